#include "roof/pointwise_launch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/decimal.h"
#include "roof/models.h"

namespace assay {
namespace {

constexpr double kFewestPerThread = 4;
constexpr double kMostPerThread = 16;

// Comma-separated parts, up to the closing bracket of the list that contains `text`.
std::vector<std::string_view> parts_of(std::string_view text) {
  constexpr std::string_view kOpen = "<({[";
  constexpr std::string_view kClose = ">)}]";
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if (kOpen.find(text[i]) != std::string_view::npos) ++depth;
    if (kClose.find(text[i]) != std::string_view::npos && --depth < 0) break;
    if (text[i] != ',' || depth != 0) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trimmed(text.substr(begin, i - begin)));
  return parts;
}

// The text after the last occurrence of `opening`; empty if there is none.
std::string_view behind_last(std::string_view text, std::string_view opening) {
  const size_t at = text.rfind(opening);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + opening.size());
}

std::optional<double> leading_number(std::string_view text) {
  double number = 0;
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  if (!parse_double(digits, number)) return std::nullopt;
  return number;
}

// Types of the inputs, and bounds on the result's bytes per element; a lambda's name lacks the
// result type.
struct Function {
  std::vector<ElementType> inputs = {};
  ElementType result = ElementType::kUntold;
  double least_result = 0;
  double most_result = 0;
};

// Meaning of a function object's template arguments.
struct FunctionObject {
  std::string_view name;
  std::array<int, 2> inputs;  // positions of the template arguments; kNone = no such input
  int result;
};
constexpr int kNone = -1;
constexpr auto kFunctionObjects = std::to_array<FunctionObject>({
    {"FillFunctor", {kNone, kNone}, 0},
    {"AddFunctor", {0, 0}, 0},
    {"MulFunctor", {0, 0}, 0},
    {"MulScalarFunctor", {0, kNone}, 0},
    {"CUDAFunctor_add", {0, 0}, 0},
    {"CUDAFunctorOnSelf_add", {0, kNone}, 0},
    {"CUDAFunctorOnOther_add", {0, kNone}, 0},
    {"BinaryFunctor", {0, 1}, 2},
    {"AUnaryFunctor", {1, kNone}, 2},
    {"BUnaryFunctor", {0, kNone}, 2},
});

std::optional<Function> lambda_of(std::string_view types) {
  // Widest possible results: a double, or a complex number of two doubles.
  constexpr double kWidestReal = 8;
  constexpr double kWidestComplex = 16;
  Function function{.least_result = 1, .most_result = kWidestReal};
  const std::vector<std::string_view> arguments = parts_of(types);
  if (arguments.size() == 1 && arguments[0].empty()) return function;
  for (const std::string_view type : arguments) {
    function.inputs.push_back(element_type_of(type));
    if (!(element_bytes(function.inputs.back()) > 0)) return std::nullopt;
    if (type.find("complex") != std::string_view::npos) function.most_result = kWidestComplex;
  }
  return function;
}

std::optional<Function> object_of(std::string_view text) {
  const size_t open = text.find('<');
  if (open == std::string_view::npos) return std::nullopt;
  std::string_view name = text.substr(0, open);
  name = name.substr(name.rfind(':') == std::string_view::npos ? 0 : name.rfind(':') + 1);
  const auto* const kind =
      std::find_if(kFunctionObjects.begin(), kFunctionObjects.end(),
                   [&](const FunctionObject& one) { return one.name == name; });
  if (kind == kFunctionObjects.end()) return std::nullopt;
  const std::vector<std::string_view> types = parts_of(text.substr(open + 1));
  const auto type_at = [&types](int at) {
    const auto index = static_cast<size_t>(at);
    return index < types.size() ? element_type_of(types[index]) : ElementType::kUntold;
  };
  const ElementType result = type_at(kind->result);
  Function function{{}, result, element_bytes(result), element_bytes(result)};
  for (const int input : kind->inputs) {
    if (input == kNone) continue;
    function.inputs.push_back(type_at(input));
    if (!(element_bytes(function.inputs.back()) > 0)) return std::nullopt;
  }
  if (!(function.most_result > 0)) return std::nullopt;
  return function;
}

std::optional<Function> function_of(std::string_view text) {
  if (text.ends_with('}')) return lambda_of(behind_last(text, "{lambda("));
  return object_of(text);
}

// Range of elements per thread: exactly 4 with the older array (PyTorch up to 2.5), except for
// narrow types and on AMD. Otherwise up to 16.
LaunchRule per_thread(double vector, bool old_array, const Function& function, double threads) {
  constexpr double kWide = 4;
  constexpr double kThreadsOfNvidia = 128;
  const bool result_told = function.least_result == function.most_result;
  bool wide = !result_told || function.least_result >= kWide;
  for (const ElementType input : function.inputs) wide &= element_bytes(input) >= kWide;
  const bool always_four =
      old_array && wide && threads <= kThreadsOfNvidia && vector <= kFewestPerThread;
  return {std::max(kFewestPerThread, vector), always_four ? kFewestPerThread : kMostPerThread};
}

// Number of lists that a list kernel reads and writes.
struct ListFunction {
  ElementType type = ElementType::kUntold;
  double lists = 0;
  double least_reads = 0;
  double reads = 0;
  double least_writes = 0;
  double writes = 0;
};

// FusedAdamMathFunctor<float, 4, …>: parameters, gradients and states. All are read; the gradients
// are written only if they were scaled.
ListFunction fused_optimizer(ElementType type, double lists) {
  return {type, lists, lists, lists, lists - 1, lists};
}

// BinaryOpListAlphaFunctor<float, 2, 2, 0>: two lists, both read, the first one written. Both may
// be the same list. Norms write one number per chunk: LpNormFunctor<float, (at::native::NormType)1,
// float, 1, 1, 0>.
std::optional<ListFunction> list_function(std::string_view text) {
  const size_t open = text.find('<');
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, open);
  const std::vector<std::string_view> parts = parts_of(text.substr(open + 1));
  const ElementType type = element_type_of(parts[0]);
  if (!(element_bytes(type) > 0)) return std::nullopt;
  const auto number = [&parts](size_t at) {
    return at < parts.size() ? leading_number(parts[at]) : std::nullopt;
  };
  const bool fused = name.find("::Fused") != std::string_view::npos;
  const bool norm = name.ends_with("LpNormFunctor");
  if (fused) {
    const auto lists = number(1);
    return lists && *lists > 1 ? std::optional(fused_optimizer(type, *lists)) : std::nullopt;
  }
  if (parts.size() != (norm ? 6 : 4)) return std::nullopt;
  const auto lists = number(parts.size() - 3);
  const auto reads = number(parts.size() - 2);
  if (!lists || !reads || *lists < 1 || *reads < 1 || *reads > *lists) return std::nullopt;
  const double writes = norm ? 0 : 1;
  if (name.ends_with("ZeroFunctor")) return ListFunction{type, *lists, 0, 0, writes, writes};
  return ListFunction{type, *lists, std::max(1.0, *reads - 1), *reads, writes, writes};
}

// Maximum number of tensors per launch, by number of lists, over all versions.
double most_tensors(double lists) {
  constexpr std::array<double, 5> kMost = {770, 448, 336, 256, 256};
  const auto at = static_cast<size_t>(lists) - 1;
  return at < kMost.size() ? kMost[at] : 0;
}

// Parsed name of a kernel over contiguous tensors; empty for other kernels.
struct PointwiseName {
  double vector = 0;
  bool old_array = false;
  Function function;
};

std::optional<PointwiseName> pointwise_name(std::string_view kernel) {
  constexpr std::string_view kKernel = "at::native::vectorized_elementwise_kernel<";
  const size_t at = kernel.find(kKernel);
  if (at == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> parts = parts_of(kernel.substr(at + kKernel.size()));
  if (parts.size() != 3) return std::nullopt;
  const auto vector = leading_number(parts[0]);
  const auto tensors = leading_number(behind_last(parts[2], "char*, "));
  auto function = function_of(parts[1]);
  if (!vector || !tensors || !function) return std::nullopt;
  if (*tensors != static_cast<double>(function->inputs.size() + 1) || *vector > kMostPerThread)
    return std::nullopt;
  return PointwiseName{*vector, parts[2].starts_with("at::detail::Array<"), std::move(*function)};
}

}  // namespace

std::optional<LaunchRule> per_thread_shown(const LaunchSize& launch, double elements) {
  std::optional<LaunchRule> shown;
  for (double each = kFewestPerThread; each <= kMostPerThread; each *= 2) {
    const double of_block = static_cast<double>(launch.threads) * each;
    if (std::ceil(elements / of_block) != static_cast<double>(launch.blocks)) continue;
    if (!shown) shown = LaunchRule{each, each};
    shown->most = each;
  }
  return shown;
}

ElementType pointwise_type(std::string_view kernel, std::string_view op) {
  const auto name = pointwise_name(kernel);
  if (!name || name->function.inputs.empty()) return ElementType::kUntold;
  const Function& function = name->function;
  const ElementType first = function.inputs.front();
  const bool alike = std::all_of(function.inputs.begin(), function.inputs.end(),
                                 [first](ElementType input) { return input == first; });
  const bool kept =
      function.result == first || (function.result == ElementType::kUntold && keeps_type(op));
  return alike && kept ? first : ElementType::kUntold;
}

WorkAnswer pointwise_launch_work(std::string_view kernel, const LaunchSize& launch,
                                 std::string_view op, LaunchRule shown) {
  auto name = pointwise_name(kernel);
  if (!name || launch.blocks == 0 || launch.threads == 0) return {WorkKnown::kNoModel};
  Function& function = name->function;
  double read = 0;
  double widest = 0;
  for (const ElementType input : function.inputs) {
    read += element_bytes(input);
    widest = std::max(widest, element_bytes(input));
  }
  const bool untold = function.least_result < function.most_result;
  if (untold && widest > 0 && keeps_type(op)) {
    // Kernels over contiguous tensors do not cast: the widest argument has the result's type.
    function.least_result = widest;
    function.most_result = widest;
  }
  if (shown.result_bytes > 0) {
    function.least_result = shown.result_bytes;
    function.most_result = shown.result_bytes;
  }
  const auto threads = static_cast<double>(launch.threads);
  LaunchRule each = per_thread(name->vector, name->old_array, function, threads);
  each = {std::max(each.fewest, shown.fewest), std::min(each.most, shown.most)};
  if (each.fewest > each.most) return {WorkKnown::kNoModel};
  const auto blocks = static_cast<double>(launch.blocks);
  // The last block has at least one element.
  const double fewest = (blocks - 1) * threads * each.fewest + 1;
  const double most = blocks * threads * each.most;
  WorkAnswer answer{WorkKnown::kBounds};
  answer.work = {.read_bytes = fewest * read, .write_bytes = fewest * function.least_result};
  answer.most = {.read_bytes = most * read, .write_bytes = most * function.most_result};
  return answer;
}

WorkAnswer list_launch_work(std::string_view kernel, const LaunchSize& launch) {
  constexpr std::string_view kKernel =
      "at::native::(anonymous namespace)::multi_tensor_apply_kernel<";
  constexpr double kChunk = 65536;
  constexpr uint64_t kThreads = 512;
  const size_t at = kernel.find(kKernel);
  if (at == std::string_view::npos || launch.blocks == 0 || launch.threads != kThreads)
    return {WorkKnown::kNoModel};
  const std::vector<std::string_view> parts = parts_of(kernel.substr(at + kKernel.size()));
  const auto function = parts.size() < 2 ? std::nullopt : list_function(parts[1]);
  const double tensors = function ? most_tensors(function->lists) : 0;
  if (tensors == 0) return {WorkKnown::kNoModel};
  const auto blocks = static_cast<double>(launch.blocks);
  // Each tensor ends with a chunk of at least one element; all other chunks are full.
  const double ends = std::min(blocks, tensors);
  const double fewest = (blocks - ends) * kChunk + ends;
  const double most = blocks * kChunk;
  const double bytes = element_bytes(function->type);
  WorkAnswer answer{WorkKnown::kBounds};
  answer.work = {.kind = OpWorkKind::kOptimizer,
                 .read_bytes = fewest * bytes * function->least_reads,
                 .write_bytes = fewest * bytes * function->least_writes};
  answer.most = {.kind = OpWorkKind::kOptimizer,
                 .read_bytes = most * bytes * function->reads,
                 .write_bytes = most * bytes * function->writes};
  return answer;
}

}  // namespace assay
