#pragma once

// The table of kernel names: rows from patterns to properties (docs/formats/kernels.md).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/words.h"

namespace assay {

enum class KernelAspect : uint8_t {
  kKind,
  kLibrary,
  kFamily,
  kType,
  kTag,
  kCollective,
  kVendor,       // a vendor library's kernel (I_lib = 1)
  kNative,       // not a vendor library's kernel, even if kVendor matches too
  kPaperNative,  // a vendor library's kernel that TaxBreak counts as native
  kVendorOp,
};
inline constexpr size_t kKernelAspects = 10;

enum class NamePlace : uint8_t {
  kFunction,       // fn: the function's own name
  kScope,          // ns: a namespace or class around it
  kArgument,       // arg: a name in its template arguments
  kArgumentScope,  // argns: a namespace or class in them
  kParameter,      // par: a name in its parameter list
  kScalar,         // scalar: the first of its template arguments that is float or double
  kKind,           // kind: the kind found by the rows of kinds
  kLibrary,        // library: the library found by the rows of libraries
};

struct TableTerm {
  NamePlace place = NamePlace::kFunction;
  bool denied = false;
  std::vector<WordPattern> words;    // alternatives; empty for kKind and kLibrary
  std::vector<std::string> answers;  // alternatives for kKind and kLibrary
};

struct TableRow {
  KernelAspect aspect = KernelAspect::kKind;
  std::string value;
  bool guess = false;
  uint32_t line = 0;
  std::vector<std::vector<TableTerm>> patterns;  // alternatives; all terms of one must match
  std::vector<std::string> operators;            // for kVendorOp; '*' at the end matches any
                                                 // continuation
};

// Errors name the line and the reason.
Result<std::vector<TableRow>> parse_kernel_rows(std::string_view text);

}  // namespace assay
