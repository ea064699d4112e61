#pragma once

// Which family a kernel belongs to and whether a vendor library mediates it (I_lib of TaxBreak):
// decided by patterns on the raw name that are data, not code, so that a user can add to them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

// First match wins, in order. A pattern is a lower-case substring of the raw kernel name.
struct KernelFamily {
  std::string name;                   // "GEMM (nvjet)"
  std::vector<std::string> patterns;  // any of them
};

// The built-in family of collective kernels, whose time contains waiting for other ranks.
inline constexpr std::string_view kCommunicationFamily = "Communication";

struct KernelFamilies {
  std::vector<KernelFamily> families;                // the last one takes what nothing else took
  std::vector<std::string> library_patterns;         // I_lib = 1 when one of these matches ...
  std::vector<std::string> native_patterns;          // ... and none of these,
  std::vector<std::string> forced_library_patterns;  // or when one of these does (a user's)
  std::vector<std::string> library_ops;  // operators that end in a library, told apart from I_lib

  // Of several families with one name the first stands for all.
  uint16_t family_of(std::string_view kernel_name) const;
  bool is_library(std::string_view kernel_name) const;
  // Whether the operator is one that ends in a vendor library ("aten::mm"): a hint beside I_lib.
  bool is_library_op(std::string_view op_name) const;
};

// The patterns of spec/tax 3.2, CUDA and ROCm.
const KernelFamilies& builtin_kernel_families();

// A user's patterns in front of those of `base`. The text has one rule per line:
//   family "Name": pattern, pattern ...
//   library: pattern, ...     I_lib = 1 whatever the built-in patterns say
//   native: pattern, ...      I_lib = 0 unless a library line says otherwise
//   library-op: operator, ... "aten::mm"; "aten::foo*" for all that start so
// '#' starts a comment. A family of a known name takes more patterns. Errors name line and reason.
Result<KernelFamilies> extend_kernel_families(const KernelFamilies& base, std::string_view text);

// Canonical kernel name (spec/tax 3.1). Idempotent.
std::string clean_kernel_name(std::string_view raw);

}  // namespace assay
