// Work of operators that stream through memory.
//
// Problem: most operators have so few FLOP per element that memory limits them, and there are
// hundreds of them.
//
// Method: a table lists the arguments that each operator reads and writes, or states that it writes
// the broadcast shape of its inputs. In-place variants have the same name with an underscore.
// Arguments after the inputs are output tensors of the caller and are not read.

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "roof/models.h"

namespace assay {
namespace {

// A set of argument positions, as bits.
using ArgumentMask = uint32_t;
constexpr ArgumentMask arg(size_t index) { return ArgumentMask{1} << index; }
template <typename... Index>
constexpr ArgumentMask args(Index... index) {
  return (arg(static_cast<size_t>(index)) | ...);
}

// One result, in the broadcast shape of the inputs.
struct Elementwise {
  std::string_view op;
  size_t inputs = 1;  // leading arguments that may be read
  double flop = 1;    // per element of the result
  bool boolean = false;
};
constexpr auto kElementwise = std::to_array<Elementwise>({
    {"add", 3},
    {"sub", 3},
    {"rsub", 3},
    {"mul", 2},
    {"div", 2},
    {"floor_divide", 2},
    {"remainder", 2},
    {"fmod", 2},
    {"pow", 2},
    {"atan2", 2},
    {"maximum", 2},
    {"minimum", 2},
    {"neg"},
    {"abs"},
    {"sign"},
    {"floor"},
    {"ceil"},
    {"round"},
    {"trunc"},
    {"square"},
    {"sqrt"},
    {"rsqrt", 1, 2},
    {"reciprocal"},
    {"exp"},
    {"exp2"},
    {"expm1"},
    {"log"},
    {"log2"},
    {"log10"},
    {"log1p"},
    {"sin"},
    {"cos"},
    {"tan"},
    {"tanh"},
    {"sigmoid", 1, 3},
    {"erf"},
    {"erfinv"},
    {"relu"},
    {"relu6"},
    {"leaky_relu"},
    {"elu"},
    {"gelu", 1, 8},
    {"silu", 1, 4},
    {"mish", 1, 6},
    {"softplus", 1, 3},
    {"hardswish", 1, 4},
    {"hardsigmoid", 1, 3},
    {"hardtanh", 1, 2},
    {"threshold"},
    {"clamp", 3, 2},
    {"clamp_min", 2},
    {"clamp_max", 2},
    {"nan_to_num"},
    {"logit", 1, 3},
    {"tril", 1, 0},
    {"triu", 1, 0},
    {"cumsum"},
    {"where", 3, 0},
    {"masked_fill", 3, 0},
    {"addcmul", 3, 3},
    {"addcdiv", 3, 3},
    {"lerp", 3, 3},
    {"bitwise_and", 2},
    {"bitwise_or", 2},
    {"bitwise_xor", 2},
    {"bitwise_not"},
    {"bitwise_left_shift", 2},
    {"bitwise_right_shift", 2},
    {"eq", 2, 1, true},
    {"ne", 2, 1, true},
    {"lt", 2, 1, true},
    {"le", 2, 1, true},
    {"gt", 2, 1, true},
    {"ge", 2, 1, true},
    {"logical_and", 2, 1, true},
    {"logical_or", 2, 1, true},
    {"logical_xor", 2, 1, true},
    {"logical_not", 1, 1, true},
    {"isnan", 1, 1, true},
    {"isinf", 1, 1, true},
    {"isfinite", 1, 1, true},
    {"threshold_backward", 2},
    {"gelu_backward", 2, 14},
    {"silu_backward", 2, 8},
    {"sigmoid_backward", 2, 3},
    {"tanh_backward", 2, 3},
    {"hardtanh_backward", 2, 2},
    {"leaky_relu_backward", 2},
    {"elu_backward", 2, 3},
    {"softplus_backward", 2, 4},
    {"hardswish_backward", 2, 4},
    {"hardsigmoid_backward", 2, 2},
    {"logit_backward", 2, 3},
    {"native_dropout_backward", 2, 2},
    {"mse_loss_backward", 3, 3},
    {"smooth_l1_loss_backward", 3, 4},
});

// Reads and writes whole arguments, or tensors of their shape.
struct ListedStream {
  std::string_view op;
  OpWorkKind kind;
  double flop = 0;  // per element of `counted`
  size_t counted = 0;
  ArgumentMask reads = 0;
  ArgumentMask writes = 0;      // arguments, or a result of that shape and type
  ArgumentMask writes_too = 0;  // second result of that shape
};
constexpr OpWorkKind kNorm = OpWorkKind::kNorm;
constexpr OpWorkKind kSoftmax = OpWorkKind::kSoftmax;
constexpr OpWorkKind kMove = OpWorkKind::kMove;
constexpr OpWorkKind kOptimizer = OpWorkKind::kOptimizer;
constexpr OpWorkKind kLoss = OpWorkKind::kLoss;
constexpr OpWorkKind kPointwise = OpWorkKind::kElementwise;
constexpr ArgumentMask kFirstFive = args(0, 1, 2, 3, 4);
constexpr auto kStreams = std::to_array<ListedStream>({
    {"aten::copy_", kMove, 0, 0, arg(1), arg(0)},
    {"aten::fill_", kMove, 0, 0, 0, arg(0)},
    {"aten::zero_", kMove, 0, 0, 0, arg(0)},
    {"aten::normal_", kPointwise, 0, 0, 0, arg(0)},
    {"aten::uniform_", kPointwise, 0, 0, 0, arg(0)},
    {"aten::bernoulli_", kPointwise, 0, 0, 0, arg(0)},
    {"aten::random_", kPointwise, 0, 0, 0, arg(0)},
    {"aten::cat", kMove, 0, 0, arg(0), arg(0)},
    {"aten::_softmax", kSoftmax, 5, 0, arg(0), arg(0)},
    {"aten::_log_softmax", kSoftmax, 5, 0, arg(0), arg(0)},
    {"aten::_safe_softmax", kSoftmax, 5, 0, arg(0), arg(0)},
    {"aten::_softmax_backward_data", kSoftmax, 4, 0, args(0, 1), arg(0)},
    {"aten::_log_softmax_backward_data", kSoftmax, 4, 0, args(0, 1), arg(0)},
    {"ScaledMaskedSoftmax", kSoftmax, 6, 0, args(0, 1), arg(0)},
    {"ScaledSoftmax", kSoftmax, 6, 0, arg(0), arg(0)},
    {"aten::native_layer_norm", kNorm, 8, 0, args(0, 2, 3), arg(0)},
    {"aten::native_layer_norm_backward", kNorm, 14, 1, args(0, 1, 3, 4, 5), args(1, 5, 6)},
    {"aten::_fused_rms_norm", kNorm, 5, 0, args(0, 2), arg(0)},
    {"aten::_fused_rms_norm_backward", kNorm, 10, 1, args(0, 1, 3, 4), args(1, 4)},
    {"aten::native_batch_norm", kNorm, 8, 0, kFirstFive, arg(0)},
    {"aten::_native_batch_norm_legit", kNorm, 8, 0, kFirstFive, arg(0)},
    {"aten::_native_batch_norm_legit_no_training", kNorm, 4, 0, kFirstFive, arg(0)},
    {"aten::_batch_norm_with_update", kNorm, 8, 0, kFirstFive, arg(0)},
    {"aten::cudnn_batch_norm", kNorm, 8, 0, kFirstFive, arg(0)},
    {"aten::miopen_batch_norm", kNorm, 8, 0, kFirstFive, arg(0)},
    {"aten::cudnn_batch_norm_backward", kNorm, 14, 0, args(0, 1, 2), args(0, 2), arg(2)},
    {"aten::miopen_batch_norm_backward", kNorm, 14, 0, args(0, 1, 2), args(0, 2), arg(2)},
    {"aten::native_batch_norm_backward", kNorm, 14, 1, args(0, 1, 2), args(1, 2), arg(2)},
    {"aten::native_group_norm", kNorm, 8, 0, args(0, 1, 2), arg(0)},
    {"aten::native_group_norm_backward", kNorm, 14, 1, args(0, 1, 2, 3, 4), args(1, 4), arg(4)},
    {"FusedLayerNormAffineFunction", kNorm, 8, 0, args(0, 1, 2), arg(0)},
    {"FusedRMSNormAffineFunction", kNorm, 5, 0, args(0, 1), arg(0)},
    {"_C::rms_norm", kNorm, 5, 1, args(1, 2), arg(0)},
    {"_C::fused_add_rms_norm", kNorm, 6, 0, args(0, 1, 2), args(0, 1)},
    {"sgl_kernel::rmsnorm", kNorm, 5, 1, args(1, 2), arg(0)},
    {"sgl_kernel::fused_add_rmsnorm", kNorm, 6, 0, args(0, 1, 2), args(0, 1)},
    {"aiter::rmsnorm", kNorm, 5, 1, args(1, 2), arg(0)},
    {"aiter::add_rmsnorm", kNorm, 6, 1, args(1, 2, 4), args(0, 3)},
    {"aiter::rmsnorm2d_fwd_with_add_ck", kNorm, 6, 1, args(1, 2, 4), args(0, 3)},
    {"aiter::rms_norm", kNorm, 5, 0, args(0, 1), arg(0)},
    {"aiter::_groupnorm_run", kNorm, 8, 0, args(0, 2, 3), arg(0)},
    {"vllm::rocm_aiter_rms_norm", kNorm, 5, 0, args(0, 1), arg(0)},
    {"vllm::rocm_aiter_rmsnorm2d_fwd_with_add", kNorm, 6, 0, args(0, 1, 2), arg(0), arg(0)},
    {"_C::silu_and_mul", kPointwise, 5, 0, arg(1), arg(0)},
    {"_C::gelu_and_mul", kPointwise, 9, 0, arg(1), arg(0)},
    {"_C::gelu_tanh_and_mul", kPointwise, 9, 0, arg(1), arg(0)},
    {"sgl_kernel::silu_and_mul", kPointwise, 5, 0, arg(1), arg(0)},
    {"sgl_kernel::gelu_and_mul", kPointwise, 9, 0, arg(1), arg(0)},
    {"_C::rotary_embedding", kPointwise, 3, 1, args(0, 1, 2), args(1, 2)},
    {"sgl_kernel::rotary_embedding", kPointwise, 3, 1, args(0, 1, 2), args(1, 2)},
    {"_C_cache_ops::reshape_and_cache_flash", kMove, 0, 0, args(0, 1, 4), args(0, 1)},
    {"sglang::store_cache", kMove, 0, 0, args(0, 1, 4), args(0, 1)},
    {"flashinfer::rmsnorm", kNorm, 5, 1, args(1, 2), arg(0)},
    {"flashinfer::gemma_rmsnorm", kNorm, 5, 1, args(1, 2), arg(0)},
    {"flashinfer::fused_add_rmsnorm", kNorm, 6, 0, args(0, 1, 2), args(0, 1)},
    {"flashinfer::gemma_fused_add_rmsnorm", kNorm, 6, 0, args(0, 1, 2), args(0, 1)},
    {"flashinfer::silu_and_mul", kPointwise, 5, 0, arg(1), arg(0)},
    {"flashinfer::gelu_and_mul", kPointwise, 9, 0, arg(1), arg(0)},
    {"flashinfer::gelu_tanh_and_mul", kPointwise, 9, 0, arg(1), arg(0)},
    {"LigerRMSNormFunction", kNorm, 5, 0, args(0, 1), arg(0)},
    {"LigerRopeFunction", kPointwise, 3, 0, args(0, 1, 2, 3), args(0, 1)},
    {"_C::gelu_fast", kPointwise, 8, 0, arg(1), arg(0)},
    {"_C::gelu_new", kPointwise, 8, 0, arg(1), arg(0)},
    {"_C::gelu_quick", kPointwise, 4, 0, arg(1), arg(0)},
    {"_C::static_scaled_fp8_quant", kPointwise, 2, 1, args(1, 2), arg(0)},
    {"_C::dynamic_scaled_fp8_quant", kPointwise, 3, 1, arg(1), args(0, 2)},
    {"_C::dynamic_per_token_scaled_fp8_quant", kPointwise, 3, 1, args(1, 3), args(0, 2)},
    {"_C::static_scaled_int8_quant", kPointwise, 2, 1, args(1, 2, 3), arg(0)},
    {"_C::dynamic_scaled_int8_quant", kPointwise, 3, 1, arg(1), args(0, 2, 3)},
    {"_C::per_token_group_fp8_quant", kPointwise, 3, 0, arg(0), args(1, 2)},
    {"sgl_kernel::sgl_per_token_group_quant_fp8", kPointwise, 3, 0, arg(0), args(1, 2)},
    {"sgl_kernel::sgl_per_token_quant_fp8", kPointwise, 3, 0, arg(0), args(1, 2)},
    {"_C::silu_and_mul_quant", kPointwise, 6, 0, args(1, 2), arg(0)},
    {"_C::rms_norm_static_fp8_quant", kNorm, 7, 1, args(1, 2, 3), arg(0)},
    {"_C::fused_add_rms_norm_static_fp8_quant", kNorm, 8, 1, kFirstFive & ~arg(0), args(0, 2)},
    {"_C::rms_norm_dynamic_per_token_quant", kNorm, 8, 1, args(1, 2, 5, 6), args(0, 3, 6)},
    {"_C_cache_ops::reshape_and_cache", kMove, 0, 0, args(0, 1, 4), args(0, 1)},
    {"_C_cache_ops::concat_and_cache_mla", kMove, 0, 0, args(0, 1, 3), args(0, 1)},
    {"aten::flip", kMove, 0, 0, arg(0), arg(0)},
    {"aten::roll", kMove, 0, 0, arg(0), arg(0)},
    {"aten::nll_loss_forward", kLoss, 1, 1, arg(1), 0},
    {"aten::mse_loss", kLoss, 3, 0, args(0, 1), 0},
    {"aten::native_dropout", kPointwise, 2, 0, arg(0), arg(0)},
    {"aten::_fused_adam_", kOptimizer, 14, 0, kFirstFive, args(0, 2, 3, 4)},
    {"aten::_fused_adamw_", kOptimizer, 15, 0, kFirstFive, args(0, 2, 3, 4)},
    {"aten::_fused_sgd_", kOptimizer, 4, 0, args(0, 1, 2), args(0, 2)},
    {"aten::_fused_adagrad_", kOptimizer, 6, 0, args(0, 1, 2), args(0, 2)},
});

// Reads all of the first argument; another argument lists the axes to reduce.
struct Reduction {
  std::string_view op;
  double flop = 1;  // per element read
  size_t axes = 1;
};
constexpr auto kReductions = std::to_array<Reduction>({
    {"aten::sum"},          {"aten::mean"},       {"aten::prod"},
    {"aten::amax"},         {"aten::amin"},       {"aten::max"},
    {"aten::min"},          {"aten::argmax"},     {"aten::argmin"},
    {"aten::any"},          {"aten::all"},        {"aten::count_nonzero"},
    {"aten::logsumexp", 3}, {"aten::norm", 2, 2}, {"aten::linalg_vector_norm", 2, 2},
    {"aten::var", 4},       {"aten::std", 4},     {"aten::var_mean", 4},
    {"aten::std_mean", 4},
});

// Bytes of the arguments in a bit mask. `typed` becomes false if a type is unknown, `sized` if the
// sizes of a list are unknown.
struct Counted {
  double bytes = 0;
  double elements = 0;
  bool typed = true;
  bool sized = true;
};

void count_argument(const OpArgument& argument, bool stored, Counted& counted) {
  for (const TensorInput& tensor : argument.tensors) {
    const double elements = stored ? tensor.stored() : tensor.elements();
    counted.elements += elements;
    counted.bytes += bytes_of(elements, tensor);
    counted.typed &= is_typed(tensor) || elements == 0;
  }
}

// True if lists have recorded sizes. A profiler that records the sizes of one list records those of
// all lists of at most its length, and an optimizer's lists have equal length. A list without sizes
// is then empty, such as the maxima of a disabled AMSGrad.
bool lists_are_told(const OpInputs& inputs) {
  return std::any_of(
      inputs.arguments.begin(), inputs.arguments.end(),
      [](const OpArgument& argument) { return argument.list && !argument.tensors.empty(); });
}

Counted count(const OpInputs& inputs, ArgumentMask mask, bool stored) {
  Counted counted;
  const bool told = lists_are_told(inputs);
  for (size_t i = 0; i < inputs.arguments.size() && i < 32; ++i) {
    if ((mask & arg(i)) == 0) continue;
    count_argument(inputs.arguments[i], stored, counted);
    counted.sized &= told || !inputs.arguments[i].list;
  }
  return counted;
}

// Result type of arithmetic: floating point before integers, tensors with axes before scalars,
// wider before narrower types.
ElementType result_type(const OpInputs& inputs, size_t leading, bool with_bool) {
  using Rank = std::tuple<bool, bool, double>;
  ElementType best = ElementType::kUntold;
  Rank best_rank = {};
  for (size_t i = 0; i < inputs.arguments.size() && i < leading; ++i) {
    const TensorInput* tensor = inputs.tensor(i);
    if (tensor == nullptr || (tensor->type == ElementType::kBool && !with_bool)) continue;
    const Rank rank(is_floating(tensor->type), !tensor->sizes.empty(), element_bytes(tensor->type));
    if (best != ElementType::kUntold && rank <= best_rank) continue;
    best = tensor->type;
    best_rank = rank;
  }
  return best;
}

// Broadcast sizes, aligned at the last axis; nullopt if they are incompatible.
std::optional<Sizes> broadcast(const OpInputs& inputs, size_t leading) {
  Sizes all;  // last axis first
  for (size_t i = 0; i < inputs.arguments.size() && i < leading; ++i) {
    const TensorInput* tensor = inputs.tensor(i);
    if (tensor == nullptr) continue;
    const Sizes& sizes = tensor->sizes;
    if (all.size() < sizes.size()) all.resize(sizes.size(), 1);
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      const double size = sizes[sizes.size() - 1 - axis];
      if (all[axis] != size && all[axis] != 1 && size != 1) return std::nullopt;
      if (all[axis] == 1) all[axis] = size;
    }
  }
  return all;
}

// Arguments that are certainly read. Factors of equal shape may be the same tensor or list, as when
// Adam squares gradients, so only one counts. On an H100 the counters measured 0.54 GB for three
// lists of 0.81 GB in total (docs/measured/2026-11-27-nvidia-h100.md).
ArgumentMask surely_read(std::string_view op, ArgumentMask reads, const OpInputs& inputs) {
  if (op.find("addcmul") == std::string_view::npos || inputs.arguments.size() < 3) return reads;
  const std::vector<TensorInput>& one = inputs.arguments[1].tensors;
  const std::vector<TensorInput>& other = inputs.arguments[2].tensors;
  const bool alike =
      std::equal(one.begin(), one.end(), other.begin(), other.end(),
                 [](const TensorInput& a, const TensorInput& b) { return a.sizes == b.sizes; });
  return alike ? reads & ~arg(2) : reads;
}

WorkAnswer elementwise_work(const Elementwise& kind, bool in_place, const OpInputs& inputs) {
  const size_t leading = std::min<size_t>(kind.inputs, 31);
  const ArgumentMask reads = surely_read(kind.op, (ArgumentMask{1} << leading) - 1, inputs);
  const Counted read = count(inputs, reads, true);
  const auto shape = broadcast(inputs, leading);
  bool any = false;
  for (size_t i = 0; i < leading; ++i) any |= inputs.tensor(i) != nullptr;
  if (!any) return {WorkKnown::kNoShapes};
  if (!shape) return {WorkKnown::kNotCovered};
  const double elements = elements_of(*shape);
  OpWork work{.kind = OpWorkKind::kElementwise, .math = result_type(inputs, leading, false)};
  work.flop = kind.flop * elements;
  work.read_bytes = read.bytes;
  ElementType result = kind.boolean ? ElementType::kBool : result_type(inputs, leading, false);
  if (result == ElementType::kUntold) result = result_type(inputs, leading, true);
  const TensorInput* first = inputs.tensor(0);
  if (in_place && first != nullptr) result = first->type;
  work.write_bytes = elements * element_bytes(result);
  return told(work, read.typed && element_bytes(result) > 0);
}

WorkAnswer listed_work(const ListedStream& kind, const OpInputs& inputs) {
  const Counted read = count(inputs, kind.reads, true);
  const Counted written = count(inputs, kind.writes, false);
  const Counted too = count(inputs, kind.writes_too, false);
  const Counted counted = count(inputs, arg(kind.counted), false);
  const bool first =
      kind.counted < inputs.arguments.size() && !inputs.arguments[kind.counted].tensors.empty();
  if (!first || !read.sized || !written.sized) return {WorkKnown::kNoShapes};
  OpWork work{.kind = kind.kind, .math = inputs.arguments[kind.counted].tensors.front().type};
  work.flop = kind.flop * counted.elements;
  work.read_bytes = read.bytes;
  work.write_bytes = written.bytes + too.bytes;
  return told(work, read.typed && written.typed);
}

// The reduced axes were not recorded: from one element to nearly all remain.
WorkAnswer over_some_axes(OpWork work, const TensorInput& from) {
  if (!is_typed(from)) return {WorkKnown::kNoTypes, work};
  WorkAnswer answer{WorkKnown::kBounds, work, work};
  answer.work.write_bytes = bytes_of(1, from);
  answer.most.write_bytes = bytes_of(from.elements(), from);
  return answer;
}

WorkAnswer reduction_work(const Reduction& kind, const OpInputs& inputs) {
  const TensorInput* from = inputs.tensor(0);
  if (from == nullptr) return {WorkKnown::kNoShapes};
  if (inputs.tensor(1) != nullptr)
    return {WorkKnown::kNotCovered};  // elementwise maximum of two
                                      // tensors, not a reduction
  OpWork work{.kind = OpWorkKind::kReduction, .math = from->type};
  work.flop = kind.flop * from->elements();
  work.read_bytes = from->bytes();
  // Full reductions have at most two arguments: (x, type), (x, order). Further ones are axes.
  constexpr size_t kWithoutAxes = 2;
  if (!inputs.values_told && inputs.arguments.size() > kWithoutAxes)
    return over_some_axes(work, *from);
  double kept = 1;
  if (const auto axes = inputs.numbers(kind.axes); axes && !axes->empty()) {
    kept = from->elements();
    for (const double axis : *axes) {
      const double at = axis < 0 ? axis + static_cast<double>(from->sizes.size()) : axis;
      if (at < 0 || at >= static_cast<double>(from->sizes.size())) return {WorkKnown::kNotCovered};
      const double size = from->sizes[static_cast<size_t>(at)];
      if (size > 0) kept /= size;
    }
  }
  work.write_bytes = bytes_of(kept, *from);
  return told(work, is_typed(*from));
}

// The upper triangle is masked: it is not read, but written as zeros.
WorkAnswer causal_softmax(const OpInputs& inputs, bool backward) {
  const TensorInput* x = inputs.tensor(0);
  if (x == nullptr) return {WorkKnown::kNoShapes};
  OpWork work{.kind = OpWorkKind::kSoftmax, .math = x->type};
  work.flop = 3 * x->elements();
  work.read_bytes = x->bytes() / 2 * (backward ? 2 : 1);
  work.write_bytes = x->bytes();
  return told(work, is_typed(*x));
}

// _foreach_add_, _foreach_mul, …: reads every list once; the result has the size of the first.
WorkAnswer foreach_work(std::string_view op, const OpInputs& inputs) {
  const bool reads_first = !op.ends_with("_zero_") && !op.ends_with("_copy_");
  const ArgumentMask lists = surely_read(op, (ArgumentMask{1} << 4) - 1, inputs);
  const Counted read = count(inputs, reads_first ? lists : lists & ~arg(0), true);
  const Counted written = count(inputs, op.ends_with("_norm") ? 0 : arg(0), false);
  if (inputs.arguments.empty() || inputs.arguments[0].tensors.empty())
    return {WorkKnown::kNoShapes};
  OpWork work{.kind = OpWorkKind::kOptimizer, .math = inputs.arguments[0].tensors.front().type};
  work.flop = op.ends_with("_zero_") || op.ends_with("_copy_") ? 0 : written.elements;
  work.read_bytes = read.bytes;
  work.write_bytes = written.bytes;
  return told(work, read.typed && written.typed);
}

// A compiler-generated kernel: accesses each of its tensors once, and at most as many elements as
// the launch has, which the numbers after the tensors give.
WorkAnswer generated_work(const OpInputs& inputs) {
  double launched = 1;
  bool launched_told = false;
  for (size_t i = 0; i < inputs.arguments.size(); ++i) {
    const auto number = inputs.tensor(i) == nullptr ? inputs.number(i) : std::nullopt;
    if (!number || !(*number > 0)) continue;
    launched *= *number;
    launched_told = true;
  }
  if (inputs.arguments.empty()) return {WorkKnown::kNoShapes};
  if (!launched_told) return {WorkKnown::kNoValues};
  OpWork work{.kind = OpWorkKind::kGenerated};
  bool typed = true;
  for (const OpArgument& argument : inputs.arguments) {
    if (!argument.tensor()) continue;
    const TensorInput& tensor = argument.tensors.front();
    typed &= is_typed(tensor);
    // Which tensors are written is unknown; only the sum matters.
    work.read_bytes += bytes_of(std::min(tensor.stored(), launched), tensor);
    work.math = tensor.type;
  }
  return told(work, typed);
}

bool is_generated(std::string_view op) {
  return op.starts_with("triton_poi_") || op.starts_with("triton_red_") ||
         op.starts_with("triton_per_");
}

constexpr std::string_view kAten = "aten::";

// Finds an operator by its name, also for its in-place variant (add_).
const Elementwise* find_elementwise(std::string_view op, bool& in_place) {
  if (!op.starts_with(kAten)) return nullptr;
  op.remove_prefix(kAten.size());
  in_place = op.ends_with('_');
  if (in_place) op.remove_suffix(1);
  return find_op(kElementwise, op);
}

}  // namespace

bool keeps_type(std::string_view op) {
  bool in_place = false;
  const Elementwise* kind = find_elementwise(op, in_place);
  return kind != nullptr && (in_place || !kind->boolean);
}

std::optional<WorkAnswer> stream_work(std::string_view op, const OpInputs& inputs) {
  bool in_place = false;
  if (const Elementwise* kind = find_elementwise(op, in_place))
    return elementwise_work(*kind, in_place, inputs);
  if (const ListedStream* kind = find_op(kStreams, op)) return listed_work(*kind, inputs);
  if (const Reduction* kind = find_op(kReductions, op)) return reduction_work(*kind, inputs);
  if (op == "ScaledUpperTriangMaskedSoftmax") return causal_softmax(inputs, false);
  if (op == "ScaledUpperTriangMaskedSoftmaxBackward") return causal_softmax(inputs, true);
  if (op.starts_with("aten::_foreach_")) return foreach_work(op, inputs);
  if (is_generated(op)) return generated_work(inputs);
  return std::nullopt;
}

}  // namespace assay
