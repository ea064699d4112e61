#pragma once

// Row and string ids of four bytes. Each table has its own id type, without conversions between
// them, so that an operator's row number can never index the kernels.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace assay {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(size_t row) : value(static_cast<uint32_t>(row)) {}
  constexpr explicit operator bool() const { return value != kNone; }
  constexpr size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using StringId = Id<struct StringTag>;          // into Trace::strings; 0 is the empty string
using ThreadId = Id<struct ThreadTag>;          // into Trace::threads
using StreamId = Id<struct StreamTag>;          // into Trace::streams
using OpId = Id<struct OpTag>;                  // into Trace::ops
using ApiCallId = Id<struct ApiCallTag>;        // into Trace::api_calls
using ActivityId = Id<struct ActivityTag>;      // into Trace::activities
using AnnotationId = Id<struct AnnotationTag>;  // into Trace::annotations

static_assert(sizeof(OpId) == 4);

}  // namespace assay

template <typename Tag>
struct std::hash<assay::Id<Tag>> {
  size_t operator()(assay::Id<Tag> id) const { return std::hash<uint32_t>{}(id.value); }
};
