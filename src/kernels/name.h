#pragma once

// A kernel's name taken apart. Names are C++, mangled or in the spelling of one of several
// demanglers, or plain identifiers (Triton, Tensile, cuBLAS); they come from files and may be cut,
// unbalanced or hostile. Everything here takes time linear in the name's length and no recursion.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Views into the text that was parsed.
struct KernelName {
  struct Argument {
    std::string_view text;
    bool scope = false;  // a namespace or class, of what follows it
  };
  std::string_view function;             // its own name: "reduce_kernel"
  std::vector<std::string_view> scopes;  // namespaces and classes around it, outermost first
  std::vector<Argument> arguments;       // names in its template lists, in order, nested ones too
  std::vector<std::string_view> parameters;  // names of types in its parameter list
};

// Of a name with more than this many parts the rest is left out.
inline constexpr size_t kMaxNameParts = 4096;

KernelName parse_kernel_name(std::string_view name);

// "void at::native::foo<float, (int)4>(args...)" -> "at::native::foo". Return type, template
// arguments and parameters cut; names without such parts, and copies and fills ("Memcpy HtoD
// (Pinned -> Device)"), unchanged. A view into `name`. Idempotent.
std::string_view short_kernel_name(std::string_view name);

// The short name, and for generic wrappers what they wrap: "vectorized_elementwise_kernel" alone
// says nothing, so "vectorized_elementwise_kernel[CUDAFunctor_add]"; whatever is given a lambda
// wraps the function that it stands in. For display: two kernels that
// differ only in element type, vector width or launch policy get the same text.
std::string describe_kernel(std::string_view name);

// Without the endings that AMD's tools add (".kd", " [clone .kd]"); mangled names are demangled.
std::string plain_kernel_name(std::string_view name);
// The function's own name: without return type, namespaces, template arguments and parameters.
std::string base_kernel_name(std::string_view name);

// The name by which kernels of a trace and of a replay are matched (docs/metrics.md, "Overhead").
// Idempotent.
std::string clean_kernel_name(std::string_view raw);

}  // namespace assay
