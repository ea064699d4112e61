// Each element of a convolution's result is a sum over the kernel positions and the input channels
// of its group, 2 FLOP per term. In a transposed convolution, each element of the input takes this
// role. The gradients of input and weight cost the same again each.

#include <algorithm>
#include <array>
#include <cmath>

#include "roof/models.h"

namespace assay {
namespace {

enum class ConvolutionPart : uint8_t { kForward, kBackward, kInputGradient, kWeightGradient };

// Arguments of an operator by position.
struct Convolution {
  std::string_view op;
  ConvolutionPart part;
  size_t input;   // for gradients: the gradient of the result
  size_t weight;  // for kWeightGradient: the input
  size_t stride;
  size_t padding;
  size_t dilation;
  size_t transposed = kNoArgument;  // argument that selects transposed
  size_t output_padding = kNoArgument;
  size_t bias = kNoArgument;
  bool always_transposed = false;
  size_t gradient = kNoArgument;  // for kBackward: the gradient of the result
  size_t mask = kNoArgument;      // for kBackward: which gradients are computed
};
constexpr auto kConvolutions = std::to_array<Convolution>({
    {"aten::conv1d", ConvolutionPart::kForward, 0, 1, 3, 4, 5, kNoArgument, kNoArgument, 2},
    {"aten::conv2d", ConvolutionPart::kForward, 0, 1, 3, 4, 5, kNoArgument, kNoArgument, 2},
    {"aten::conv3d", ConvolutionPart::kForward, 0, 1, 3, 4, 5, kNoArgument, kNoArgument, 2},
    {"aten::convolution", ConvolutionPart::kForward, 0, 1, 3, 4, 5, 6, 7, 2},
    {"aten::_convolution", ConvolutionPart::kForward, 0, 1, 3, 4, 5, 6, 7, 2},
    {"aten::convolution_overrideable", ConvolutionPart::kForward, 0, 1, 3, 4, 5, 6, 7, 2},
    {"aten::cudnn_convolution", ConvolutionPart::kForward, 0, 1, 3, 2, 4},
    {"aten::cudnn_convolution_relu", ConvolutionPart::kForward, 0, 1, 3, 4, 5, kNoArgument,
     kNoArgument, 2},
    {"aten::cudnn_convolution_add_relu", ConvolutionPart::kForward, 0, 1, 5, 6, 7, kNoArgument,
     kNoArgument, 4},
    {"aten::miopen_convolution", ConvolutionPart::kForward, 0, 1, 4, 3, 5, kNoArgument, kNoArgument,
     2},
    {"aten::miopen_depthwise_convolution", ConvolutionPart::kForward, 0, 1, 4, 3, 5, kNoArgument,
     kNoArgument, 2},
    {"aten::_conv_depthwise2d", ConvolutionPart::kForward, 0, 1, 4, 5, 6, kNoArgument, kNoArgument,
     3},
    {"aten::_slow_conv2d_forward", ConvolutionPart::kForward, 0, 1, 4, 5, kNoArgument, kNoArgument,
     kNoArgument, 3},
    {"aten::conv_transpose1d", ConvolutionPart::kForward, 0, 1, 3, 4, 7, kNoArgument, 5, 2, true},
    {"aten::conv_transpose2d", ConvolutionPart::kForward, 0, 1, 3, 4, 7, kNoArgument, 5, 2, true},
    {"aten::conv_transpose3d", ConvolutionPart::kForward, 0, 1, 3, 4, 7, kNoArgument, 5, 2, true},
    {"aten::cudnn_convolution_transpose", ConvolutionPart::kForward, 0, 1, 4, 2, 5, kNoArgument, 3,
     kNoArgument, true},
    {"aten::miopen_convolution_transpose", ConvolutionPart::kForward, 0, 1, 5, 3, 6, kNoArgument, 4,
     2, true},
    {"aten::convolution_backward", ConvolutionPart::kBackward, 1, 2, 4, 5, 6, 7, 8, kNoArgument,
     false, 0, 10},
    {"aten::cudnn_convolution_backward", ConvolutionPart::kBackward, 0, 2, 4, 3, 5, kNoArgument,
     kNoArgument, kNoArgument, false, 1, 10},
    {"aten::cudnn_convolution_backward_input", ConvolutionPart::kInputGradient, 1, 2, 4, 3, 5},
    {"aten::miopen_convolution_backward_input", ConvolutionPart::kInputGradient, 1, 2, 4, 3, 5},
    {"aten::cudnn_convolution_backward_weight", ConvolutionPart::kWeightGradient, 1, 2, 4, 3, 5},
    {"aten::miopen_convolution_backward_weight", ConvolutionPart::kWeightGradient, 1, 2, 4, 3, 5},
});

// Number of spatial positions of the result; NaN if an argument is unknown.
double positions(const Convolution& kind, const OpInputs& inputs, const Sizes& input,
                 const Sizes& weight, bool transposed) {
  const auto stride = inputs.numbers(kind.stride);
  const auto padding = inputs.numbers(kind.padding);
  const auto dilation = inputs.numbers(kind.dilation);
  const auto extra = inputs.numbers(kind.output_padding);
  const bool dilation_told = kind.dilation == kNoArgument || dilation.has_value();
  if (!stride || !padding || !dilation_told) return std::nan("");
  double all = 1;
  for (size_t axis = 0; axis + 2 < input.size(); ++axis) {
    const double reach = at_axis(dilation, axis, 1) * (weight[axis + 2] - 1) + 1;
    const double step = at_axis(stride, axis, 1);
    const double pad = 2 * at_axis(padding, axis, 0);
    const double size = input[axis + 2];
    all *= transposed ? (size - 1) * step - pad + reach + at_axis(extra, axis, 0)
                      : std::floor((size + pad - reach) / step) + 1;
  }
  return all;
}

// The same for a known result size; NaN if that does not fit this convolution.
double told_positions(const Sizes& result, const Sizes& input, const Sizes& weight) {
  const bool own = result.size() == input.size() && result[0] == input[0] && result[1] == weight[0];
  return own ? elements_of(result, 2) : std::nan("");
}

bool shapes_fit(const Sizes& input, const Sizes& weight) {
  return input.size() >= 3 && input.size() == weight.size();
}

// Position of the number of groups; only for transposed convolutions.
size_t groups_argument(const Convolution& kind) {
  if (kind.transposed != kNoArgument) return kind.output_padding + 1;
  return kind.op.starts_with("aten::conv_transpose") ? kind.output_padding + 1 : kind.dilation + 1;
}

WorkAnswer forward(const Convolution& kind, const OpInputs& inputs, const TensorInput& input,
                   const TensorInput& weight, bool transposed, const Sizes& result_sizes) {
  double spots = positions(kind, inputs, input.sizes, weight.sizes, transposed);
  if (std::isnan(spots) && !transposed)
    spots = told_positions(result_sizes, input.sizes, weight.sizes);
  if (std::isnan(spots)) return {WorkKnown::kNoValues};
  if (spots < 0) return {WorkKnown::kNotCovered};
  // A transposed weight is [in, out / groups, ...]: sizes do not show the number of groups.
  if (transposed && input.sizes[1] != weight.sizes[0]) return {WorkKnown::kNotCovered};
  const double per_element = elements_of(weight.sizes, 1);
  double channels = weight.sizes[0];
  if (transposed) {
    const auto groups = inputs.number(groups_argument(kind));
    if (!groups) return {WorkKnown::kNoValues};
    channels = weight.sizes[1] * *groups;
  }
  const double result = input.sizes[0] * channels * spots;
  OpWork work{.kind = OpWorkKind::kConvolution, .matrix = true, .math = input.type};
  work.flop = 2 * per_element * (transposed ? input.elements() : result);
  work.read_bytes = input.bytes() + weight.bytes();
  if (const TensorInput* bias = inputs.tensor(kind.bias)) work.read_bytes += bias->bytes();
  work.write_bytes = bytes_of(result, input);
  return told(work, is_typed(input) && is_typed(weight));
}

WorkAnswer backward(const Convolution& kind, const OpInputs& inputs, const TensorInput& input,
                    const TensorInput& weight, bool transposed) {
  const TensorInput* gradient = inputs.tensor(kind.gradient);
  if (gradient == nullptr) return {WorkKnown::kNoShapes};
  const auto mask = inputs.numbers(kind.mask);
  if (!mask || mask->size() < 2) return {WorkKnown::kNoValues};
  const double one =
      2 * elements_of(weight.sizes, 1) * (transposed ? input.elements() : gradient->elements());
  const bool of_input = (*mask)[0] != 0;
  const bool of_weight = (*mask)[1] != 0;
  OpWork work{.kind = OpWorkKind::kConvolution, .matrix = true, .math = input.type};
  work.flop = one * ((of_input ? 1 : 0) + (of_weight ? 1 : 0));
  work.read_bytes =
      gradient->bytes() + (of_weight ? input.bytes() : 0) + (of_input ? weight.bytes() : 0);
  work.write_bytes = (of_input ? input.bytes() : 0) + (of_weight ? weight.bytes() : 0);
  return told(work, is_typed(input) && is_typed(*gradient));
}

// Sizes that a part of the backward pass writes: the values of its first argument, or from the
// arguments of the enclosing operator.
std::optional<Sizes> written_sizes(const Convolution& kind, const OpInputs& inputs,
                                   const EnclosingOp& enclosing) {
  if (auto told_sizes = inputs.numbers(0); told_sizes && told_sizes->size() >= 3) return told_sizes;
  if (enclosing.inputs == nullptr || !enclosing.name.ends_with("_convolution_backward"))
    return std::nullopt;
  const TensorInput* tensor =
      enclosing.inputs->tensor(kind.part == ConvolutionPart::kInputGradient ? 0 : 2);
  if (tensor == nullptr) return std::nullopt;
  return tensor->sizes;
}

WorkAnswer one_gradient(const Convolution& kind, const TensorInput& gradient,
                        const TensorInput& other, const std::optional<Sizes>& written) {
  const bool of_weight = kind.part == ConvolutionPart::kWeightGradient;
  if (of_weight && !written) return {WorkKnown::kNoShapes};
  OpWork work{.kind = OpWorkKind::kConvolution, .matrix = true, .math = gradient.type};
  const Sizes& weight = of_weight ? *written : other.sizes;
  work.flop = 2 * gradient.elements() * elements_of(weight, 1);
  work.read_bytes = gradient.bytes() + other.bytes();
  if (!written) return {WorkKnown::kNoShapes, work};
  work.write_bytes = bytes_of(elements_of(*written), gradient);
  return told(work, is_typed(gradient));
}

}  // namespace

std::optional<ConvolutionSizes> convolution_sizes(std::string_view op, const OpInputs& inputs) {
  const Convolution* kind = find_op(kConvolutions, op);
  if (kind == nullptr || kind->always_transposed) return std::nullopt;
  const bool backward = kind->part == ConvolutionPart::kBackward;
  if (!backward && kind->part != ConvolutionPart::kForward) return std::nullopt;
  const TensorInput* input = inputs.tensor(kind->input);
  const TensorInput* weight = inputs.tensor(kind->weight);
  const TensorInput* gradient = backward ? inputs.tensor(kind->gradient) : nullptr;
  if (input == nullptr || weight == nullptr || (backward && gradient == nullptr))
    return std::nullopt;
  return ConvolutionSizes{backward, input->sizes, weight->sizes,
                          backward ? gradient->sizes : Sizes{}};
}

std::optional<WorkAnswer> convolution_work(std::string_view op, const OpInputs& inputs,
                                           const EnclosingOp& enclosing) {
  const auto* const kind = std::find_if(kConvolutions.begin(), kConvolutions.end(),
                                        [op](const Convolution& one) { return one.op == op; });
  if (kind == kConvolutions.end()) return std::nullopt;
  const TensorInput* input = inputs.tensor(kind->input);
  const TensorInput* weight = inputs.tensor(kind->weight);
  if (input == nullptr || weight == nullptr) return WorkAnswer{WorkKnown::kNoShapes};
  if (!shapes_fit(input->sizes, weight->sizes)) return WorkAnswer{WorkKnown::kNotCovered};
  if (kind->part == ConvolutionPart::kInputGradient ||
      kind->part == ConvolutionPart::kWeightGradient)
    return one_gradient(*kind, *input, *weight, written_sizes(*kind, inputs, enclosing));
  bool transposed = kind->always_transposed;
  if (kind->transposed != kNoArgument) {
    const auto flag = inputs.flag(kind->transposed);
    if (!flag) return WorkAnswer{WorkKnown::kNoValues};
    transposed = *flag;
  }
  return kind->part == ConvolutionPart::kForward
             ? forward(*kind, inputs, *input, *weight, transposed, enclosing.result)
             : backward(*kind, inputs, *input, *weight, transposed);
}

}  // namespace assay
