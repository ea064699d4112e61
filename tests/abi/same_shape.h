#pragma once

// Whether a function pointer of ours passes its arguments as a vendor's declaration does.

#include <cstddef>
#include <type_traits>

namespace assay::abi {

// Passed in the same way: both pointers, or both numbers of one size.
template <typename A, typename B>
constexpr bool kSameShape =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_floating_point_v<A> == std::is_floating_point_v<B>;

template <typename RA, typename... A, typename RB, typename... B>
constexpr bool same_shape(RA (*)(A...), RB (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B)) {
    return false;
  } else {
    return kSameShape<RA, RB> && (kSameShape<A, B> && ...);
  }
}

}  // namespace assay::abi

#define ASSAY_SAME(function, table, member)                                       \
  static_assert(assay::abi::same_shape(static_cast<decltype(&function)>(nullptr), \
                                       decltype(table::member){}),                \
                #function)
