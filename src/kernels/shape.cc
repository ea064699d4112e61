// Kernel names are demangled C++ in the spelling of several demanglers, or plain identifiers
// (Triton, Tensile, cuBLAS). One forward scan that pairs brackets finds the parts. '<' counts as a
// bracket only directly after a name, so comparisons such as "(4 > 2)" do not count; "<unnamed>"
// and "<lambda(int)>" are names. The symbols after "operator" never count. Names that a tool
// truncated are wrong: brackets that are open at the end count as closed there.

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "base/ascii.h"
#include "kernels/mangled.h"
#include "kernels/name.h"

namespace assay {

namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// If `text` at `at` reads "operator" and its symbol ("operator()", "operator<"), its length; else
// 0.
size_t operator_length(std::string_view text, size_t at) {
  constexpr std::string_view kWord = "operator";
  if (text[at] != kWord.front() || text.substr(at, kWord.size()) != kWord) return 0;
  if (at > 0 && is_name_char(text[at - 1])) return 0;
  size_t end = at + kWord.size();
  if (end < text.size() && is_name_char(text[end])) return 0;
  // "operator ()", as Nsight Compute spells it.
  const size_t symbol_at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  // Longest first, so that "operator->*" is not read as "operator-". All other operators have no
  // bracket in them and need no care.
  constexpr std::array<std::string_view, 13> kSymbols = {
      "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">"};
  for (std::string_view symbol : kSymbols) {
    if (text.substr(symbol_at, symbol.size()) == symbol) {
      end = symbol_at + symbol.size();
      // "operator< <int>": the space keeps the template list apart from the symbol.
      if (text.substr(end, 2) == " <") ++end;
      break;
    }
  }
  return end - at;
}

// True if the '<' at `at` opens a template list.
bool opens_template(std::string_view text, size_t at) {
  if (at == 0) return false;
  const char before = text[at - 1];
  return is_name_char(before) || before == ']';  // foo[abi:cxx11]<int>
}

// Brackets that are a name: the length of "<unnamed>" or "<lambda(int)>" at `at`, else 0.
size_t unnamed_length(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != '<' || opens_template(text, at)) return 0;
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with("<unnamed>") && !rest.starts_with("<lambda")) return 0;
  constexpr size_t kLongest = 1024;  // of a lambda's parameters
  int depth = 0;
  for (size_t i = 1; i < std::min(rest.size(), kLongest); ++i) {
    depth += rest[i] == '(' ? 1 : rest[i] == ')' ? -1 : 0;
    if (rest[i] == '>' && depth <= 0 && rest[i - 1] != '-') return i + 1;
  }
  return 0;
}

// End of the bracket that opens at `open`: one past its partner, or the end of the text.
size_t skip_bracket(std::string_view text, size_t open);

// Calls visit(begin, end) for every outermost bracket pair of `text`; end is one past the closing
// bracket. All other text goes to visit_text(position) by character.
template <typename VisitBracket, typename VisitText>
void scan(std::string_view text, VisitBracket&& visit_bracket, VisitText&& visit_text) {
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = operator_length(text, i); length > 0) {
      i += length;
      // The list of "operator()<T>" and "operator< <T>", which follows no name.
      if (i < text.size() && text[i] == '<') {
        const size_t end = skip_bracket(text, i);
        visit_bracket(i, end);
        i = end;
      }
      continue;
    }
    const char c = text[i];
    if (c == '(' || c == '{' || c == '[' || (c == '<' && opens_template(text, i))) {
      const size_t end = skip_bracket(text, i);
      visit_bracket(i, end);
      i = end;
      continue;
    }
    visit_text(i);
    ++i;
  }
}

char partner(char open) {
  switch (open) {
    case '(':
      return ')';
    case '{':
      return '}';
    case '[':
      return ']';
    default:
      return '>';
  }
}

size_t skip_bracket(std::string_view text, size_t open) {
  // A stack, not recursion: names come from files, and a hostile one nests as deep as it is long.
  std::string expected(1, partner(text[open]));
  size_t i = open + 1;
  while (i < text.size() && !expected.empty()) {
    if (const size_t length = operator_length(text, i); length > 0) {
      i += length;
      if (i < text.size() && text[i] == '<') {
        expected.push_back('>');
        ++i;
      }
      continue;
    }
    if (const size_t length = unnamed_length(text, i); length > 0) {
      i += length;
      continue;
    }
    const char c = text[i];
    if (c == '(' || c == '{' || c == '[' || (c == '<' && opens_template(text, i))) {
      expected.push_back(partner(c));
    } else if (c == expected.back()) {
      expected.pop_back();
    }
    ++i;
  }
  return i;
}

// A kernel name without return type and parameters, split before its last template list. Text with
// a bracket that follows no name ("Memcpy HtoD (Pinned -> Device)") is a path as a whole.
struct NameParts {
  std::string_view path;       // "at::native::foo"
  std::string_view arguments;  // "<float, 4>", or empty
};

NameParts split_name(std::string_view name) {
  size_t parameters = kNone;  // where the parameter list starts
  size_t list_begin = kNone;  // the last template list before it
  size_t list_end = kNone;
  size_t path_begin = 0;  // after the return type
  bool has_bracket = false;
  scan(
      name,
      [&](size_t begin, size_t end) {
        if (parameters != kNone) return;
        if (name[begin] == '<') {
          has_bracket = true;
          list_begin = begin;
          list_end = end;
        } else if (name[begin] == '(' && begin > 0 && name.substr(end, 2) != "::" &&
                   name.substr(end, 8) != " const::" &&
                   !name.substr(0, begin).ends_with("decltype")) {
          // A part before "::" is a scope, as in "(anonymous namespace)::" or
          // "foo(int)::{lambda...}".
          has_bracket = true;
          parameters = begin;
        }
      },
      [&](size_t at) {
        // "operator()() const::{lambda...}" continues after that space.
        if (parameters == kNone && name[at] == ' ' && name.substr(at, 8) != " const::") {
          path_begin = at + 1;
        }
      });
  if (!has_bracket) return {name, {}};
  const size_t end = std::min(parameters, name.size());
  NameParts parts;
  if (list_end == end && list_begin > path_begin) {
    parts.path = name.substr(path_begin, list_begin - path_begin);
    parts.arguments = name.substr(list_begin, end - list_begin);
  } else if (end > path_begin) {
    parts.path = name.substr(path_begin, end - path_begin);
  }
  // "operator< <int>" leaves the space.
  if (parts.path.ends_with(' ')) parts.path.remove_suffix(1);
  if (parts.path.empty()) return {name, {}};
  return parts;
}

// "at::native::(anonymous namespace)::foo" -> "foo".
std::string_view last_component(std::string_view path) {
  const size_t colon = path.rfind("::");
  return colon == kNone ? path : path.substr(colon + 2);
}

// Kernels with an uninformative name: a template argument has their function. Names that contain
// "elementwise_kernel" count as wrappers too.
constexpr std::array<std::string_view, 11> kWrappers = {
    "Kernel",
    "Kernel2",
    "_kernel_agent",
    "device_kernel",
    "distribution_elementwise_grid_stride_kernel",
    "kernel_agent",
    "multi_tensor_apply_kernel",
    "parallel_for",
    "reduce_kernel",
    "trampoline_kernel",
    "transform_kernel"};

// Template arguments that are uninformative as well: element types, policies, and wrappers in
// wrappers.
constexpr std::array<std::string_view, 55> kUntelling = {
    "AUnaryFunctor",
    "Array",
    "BFloat16",
    "BUnaryFunctor",
    "BinaryFunctor",
    "DefaultPolicy",
    "FusedOptimizerTensorListMetadata",
    "Half",
    "LoadWithCast",
    "LoadWithoutCast",
    "OffsetCalculator",
    "OpaqueType",
    "ReduceOp",
    "StoreWithCast",
    "StoreWithoutCast",
    "TensorListMetadata",
    "TensorListScalarListMetadata",
    "TrivialOffsetCalculator",
    "__half",
    "__hip_bfloat16",
    "__nv_bfloat16",
    "_cuda_scatter_gather_internal_kernel",
    "array",
    "bool",
    "char",
    "complex",
    "const",
    "decltype",
    "default_config",
    "double",
    "empty_type",
    "false",
    "float",
    "func_wrapper_t",
    "gpu_index_kernel",
    "gpu_kernel_impl",
    "gpu_kernel_impl_nocast",
    "hip_bfloat16",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "long",
    "nullptr",
    "short",
    "signed",
    "std",
    "true",
    "type_specialized_broadcast_kernel_launcher",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "unsigned",
    "void"};
static_assert(std::is_sorted(kUntelling.begin(), kUntelling.end()));

bool is_wrapper(std::string_view component) {
  return component.find("elementwise_kernel") != kNone ||
         std::find(kWrappers.begin(), kWrappers.end(), component) != kWrappers.end();
}

bool is_telling(std::string_view component) {
  return !component.empty() && !(component[0] >= '0' && component[0] <= '9') &&
         component.find("operator") == kNone && !component.starts_with("Float8_") &&
         !component.ends_with("_config") && !component.ends_with("_config_selector") &&
         !std::binary_search(kUntelling.begin(), kUntelling.end(), component);
}

// First name in a template list that shows the kernel's function, without parameter lists and
// lambda bodies. For "<4, gpu_kernel_impl<BUnaryFunctor<float,
// MulFunctor<float>>>(X&)::{lambda()#1}>" it is "MulFunctor". Empty if there is none.
std::string_view telling_argument(std::string_view list) {
  size_t word = kNone;  // where the current component starts
  for (size_t i = 0; i <= list.size();) {
    const char c = i < list.size() ? list[i] : '\0';
    if (is_name_char(c)) {
      if (word == kNone) word = i;
      ++i;
      continue;
    }
    if (word != kNone) {
      const std::string_view component = list.substr(word, i - word);
      word = kNone;
      // A component before "::" is a scope. (The function of a lambda has "(" after it.)
      if (list.substr(i, 2) != "::" && is_telling(component)) return component;
    }
    if (const size_t length = unnamed_length(list, i); length > 0) {
      i += length;
    } else {
      i = c == '(' || c == '{' ? skip_bracket(list, i) : i + 1;
    }
  }
  return {};
}

// True if a lambda begins at the start of `text`, in the spelling of one of the demanglers.
bool begins_lambda(std::string_view text) {
  if (text.starts_with(" const")) text.remove_prefix(6);
  for (const std::string_view mark : {"::{lambda", "::[lambda", "::'lambda", "::$_", "::<lambda"}) {
    if (text.starts_with(mark)) return true;
  }
  return false;
}

// The function of a lambda in a template list: "<advance(int)::{lambda(int)#1}>" -> "advance". Any
// kernel with a lambda argument is a wrapper (Kokkos, RAJA, user loops). Empty if there is none, or
// none with a name.
std::string_view lambda_owner(std::string_view list) {
  size_t word = kNone;
  for (size_t i = 0; i < list.size();) {
    if (is_name_char(list[i])) {
      if (word == kNone) word = i;
      ++i;
      continue;
    }
    const size_t begin = word;
    word = kNone;
    if (list[i] != '(' || begin == kNone) {
      ++i;
      continue;
    }
    const size_t end = skip_bracket(list, i);
    const std::string_view component = list.substr(begin, i - begin);
    if (begins_lambda(list.substr(end)) && is_telling(component)) return component;
    ++i;  // nvcc's "&(advance(int))", and lambdas of functions that are arguments themselves
  }
  return {};
}

// True for a component without a name of its own: a lambda, unnamed namespace or call operator.
bool is_unnamed(std::string_view component) {
  return component.empty() || component[0] == '(' || component[0] == '{' || component[0] == '[' ||
         component.starts_with("operator") || component.starts_with("<unnamed>");
}

// The name without the suffixes that AMD's tools add.
std::string_view without_ending(std::string_view name) {
  for (const std::string_view ending : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

// Parses a demangled name. A part is a run of name characters. Text in parentheses of a template
// list is a function's parameters, except after '&', where it is a function.
class DemangledReader {
 public:
  explicit DemangledReader(std::string_view name) : text_(name) {}

  KernelName read() {
    const NameParts parts = split_name(text_);
    read_path(parts.path);
    read_list(parts.arguments);
    const size_t path_end = static_cast<size_t>(parts.path.data() - text_.data()) +
                            parts.path.size() + parts.arguments.size();
    if (parts.path.size() < text_.size()) read_parameters(text_.substr(path_end));
    while (!name_.scopes.empty() && is_unnamed(name_.scopes.back())) name_.scopes.pop_back();
    if (!name_.scopes.empty()) {
      name_.function = name_.scopes.back();
      name_.scopes.pop_back();
    }
    std::erase_if(name_.scopes, is_unnamed);
    return std::move(name_);
  }

 private:
  bool full() {
    return name_.scopes.size() + name_.arguments.size() + name_.parameters.size() >= kMaxNameParts;
  }

  void read_path(std::string_view path) {
    size_t begin = 0;
    size_t end = 0;  // of the component's own text, in front of its template list
    const auto finish = [&] {
      if (!full()) name_.scopes.push_back(path.substr(begin, end - begin));
    };
    scan(
        path,
        [&](size_t open, size_t close) {
          if (path[open] == '<') read_list(path.substr(open, close - open));
          if (end == open && path[open] != '<' && open == begin) end = close;
        },
        [&](size_t at) {
          if (path.substr(at, 2) == "::") {
            finish();
            begin = end = at + 2;
          } else if (at >= begin) {
            end = at + 1;
          }
        });
    finish();
  }

  void read_list(std::string_view list) {
    size_t word = kNone;
    for (size_t i = 0; i <= list.size() && !full();) {
      const char c = i < list.size() ? list[i] : '\0';
      if (is_name_char(c)) {
        if (word == kNone) word = i;
        ++i;
        continue;
      }
      if (word != kNone) {
        const std::string_view part = list.substr(word, i - word);
        word = kNone;
        if (!is_digit(part[0]) && part != "operator") {
          name_.arguments.push_back({part, list.substr(i, 2) == "::"});
        }
      }
      if (const size_t length = unnamed_length(list, i); length > 0) {
        i += length;
        continue;
      }
      const bool body = c == '{' || (c == '(' && (i == 0 || list[i - 1] != '&'));
      const size_t end = body ? skip_bracket(list, i) : i + 1;
      // "(cudnnDataType_t)2" is a constant of that type, not a list of parameters.
      const bool is_cast = c == '(' && body && end < list.size() && is_digit(list[end]) &&
                           list.substr(i + 1, end - i - 1).find('(') == kNone;
      i = is_cast ? i + 1 : end;
    }
  }

  void read_parameters(std::string_view text) {
    size_t word = kNone;
    for (size_t i = 0; i <= text.size() && !full(); ++i) {
      if (i < text.size() && is_name_char(text[i])) {
        if (word == kNone) word = i;
      } else if (word != kNone) {
        if (!is_digit(text[word])) name_.parameters.push_back(text.substr(word, i - word));
        word = kNone;
      }
    }
  }

  std::string_view text_;
  KernelName name_;
};

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  char* text = abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status);
  std::string result(status == 0 && text != nullptr ? std::string_view(text) : name);
  std::free(text);
  return result;
}

}  // namespace

KernelName parse_kernel_name(std::string_view name) {
  name = without_ending(name);
  if (name.starts_with("_Z")) {
    KernelName parsed = parse_mangled_name(name);
    if (!parsed.function.empty()) return parsed;
  }
  return DemangledReader(name).read();
}

std::string plain_kernel_name(std::string_view name) { return demangled(without_ending(name)); }

std::string base_kernel_name(std::string_view name) {
  const std::string_view function = parse_kernel_name(name).function;
  return function.empty() ? plain_kernel_name(name) : std::string(function);
}

std::string_view short_kernel_name(std::string_view name) { return split_name(name).path; }

std::string describe_kernel(std::string_view name) {
  const NameParts parts = split_name(name);
  const std::string_view component = last_component(parts.path);
  const std::string_view argument =
      is_wrapper(component) ? telling_argument(parts.arguments) : lambda_owner(parts.arguments);
  if (argument.empty()) return std::string(parts.path);
  return std::string(component) + "[" + std::string(argument) + "]";
}

}  // namespace assay
