#pragma once

// Parts of a kernel's name. Names are C++, mangled or in the spelling of one of several demanglers,
// or plain identifiers (Triton, Tensile, cuBLAS). They come from files and may be truncated,
// unbalanced or hostile. All functions take linear time in the name's length and do not recurse.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Views into the text that was parsed.
struct KernelName {
  struct Argument {
    std::string_view text;
    bool scope = false;  // true: a namespace or class around the next argument
  };
  std::string_view function;             // its own name: "reduce_kernel"
  std::vector<std::string_view> scopes;  // namespaces and classes around it, outermost first
  std::vector<Argument> arguments;       // names in its template lists, in order, nested ones too
  std::vector<std::string_view> parameters;  // names of types in its parameter list
};

// A name with more parts is truncated to this number.
inline constexpr size_t kMaxNameParts = 4096;

KernelName parse_kernel_name(std::string_view name);

// "void at::native::foo<float, (int)4>(args...)" -> "at::native::foo". Return type, template
// arguments and parameters cut; names without such parts, and copies and fills ("Memcpy HtoD
// (Pinned -> Device)"), unchanged. A view into `name`. Idempotent.
std::string_view short_kernel_name(std::string_view name);

// The short name, with the wrapped functor for generic wrappers:
// "vectorized_elementwise_kernel[CUDAFunctor_add]", because the wrapper alone says nothing. A
// wrapped lambda shows its enclosing function. For display: two kernels that differ only in element
// type, vector width or launch policy have the same text.
std::string describe_kernel(std::string_view name);

// Removes the suffixes of AMD's tools (".kd", " [clone .kd]") and demangles mangled names.
std::string plain_kernel_name(std::string_view name);
// The function's own name: without return type, namespaces, template arguments and parameters.
std::string base_kernel_name(std::string_view name);

// The name by which kernels of a trace and of a replay are matched (docs/metrics.md, "Overhead").
// Idempotent.
std::string clean_kernel_name(std::string_view raw);

}  // namespace assay
