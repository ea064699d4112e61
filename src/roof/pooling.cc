// Pooling and interpolation have few FLOP per element, so memory limits them. The input is read
// once and the result written once; max pooling also writes the position of each maximum, eight
// bytes. The backward pass reads the gradient of the result (and these positions) and writes a
// gradient of the input's size; it does not need the input itself.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "roof/models.h"

namespace assay {
namespace {

constexpr double kPlaceBytes = 8;

struct Pool {
  std::string_view op;
  size_t axes = 2;
  bool largest = false;   // max pooling, which also writes positions
  bool adaptive = false;  // the argument is the size of the result instead of the kernel's
};
constexpr auto kPools = std::to_array<Pool>({
    {"aten::max_pool2d_with_indices", 2, true},
    {"aten::max_pool3d_with_indices", 3, true},
    {"aten::avg_pool2d", 2},
    {"aten::avg_pool3d", 3},
    {"aten::_adaptive_avg_pool2d", 2, false, true},
    {"aten::_adaptive_avg_pool3d", 3, false, true},
    {"aten::adaptive_max_pool2d", 2, true, true},
    {"aten::adaptive_max_pool3d", 3, true, true},
});

// Arguments of a backward operator: gradient of the result, input, …, positions if any.
struct PoolBackward {
  std::string_view op;
  size_t places = kNoArgument;
};
constexpr auto kPoolsBackward = std::to_array<PoolBackward>({
    {"aten::max_pool2d_with_indices_backward", 7},
    {"aten::max_pool3d_with_indices_backward", 7},
    {"aten::avg_pool2d_backward"},
    {"aten::avg_pool3d_backward"},
    {"aten::_adaptive_avg_pool2d_backward"},
    {"aten::_adaptive_avg_pool3d_backward"},
    {"aten::adaptive_max_pool2d_backward", 2},
    {"aten::adaptive_max_pool3d_backward", 2},
});

struct Resize {
  std::string_view op;
  size_t axes = 2;
  double taps = 1;         // elements read per element of the result
  size_t corners = 0;      // number of arguments between sizes and scales
  bool antialias = false;  // every input element contributes when downsampling
};
constexpr auto kResizes = std::to_array<Resize>({
    {"aten::upsample_nearest1d", 1},
    {"aten::upsample_nearest2d", 2},
    {"aten::upsample_nearest3d", 3},
    {"aten::_upsample_nearest_exact1d", 1},
    {"aten::_upsample_nearest_exact2d", 2},
    {"aten::_upsample_nearest_exact3d", 3},
    {"aten::upsample_linear1d", 1, 2, 1},
    {"aten::upsample_bilinear2d", 2, 4, 1},
    {"aten::upsample_trilinear3d", 3, 8, 1},
    {"aten::upsample_bicubic2d", 2, 16, 1},
    {"aten::_upsample_bilinear2d_aa", 2, 4, 1, true},
    {"aten::_upsample_bicubic2d_aa", 2, 16, 1, true},
});

// Number of windows along one axis. With `up`, a last partial window also counts if it begins
// inside the input or its leading padding (as in PyTorch's pooling_output_shape).
double windows(double size, double reach, double step, double pad, bool up) {
  const double room = size + 2 * pad - reach;
  if (!(step > 0) || room < 0) return kNan;
  double count = (up ? std::ceil(room / step) : std::floor(room / step)) + 1;
  if (up && (count - 1) * step >= size + pad) --count;
  return count;
}

struct Extents {
  double results = kNan;  // elements
  double compared = 0;    // elements compared per result element
};

// Arguments: kernel, stride (default: kernel), padding, for max pooling also dilation, rounding.
std::optional<Extents> pooled(const Pool& kind, const OpInputs& inputs, const TensorInput& from) {
  const auto kernel = inputs.numbers(1);
  const auto stride = inputs.numbers(2);
  const auto padding = inputs.numbers(3);
  const auto dilation = kind.largest ? inputs.numbers(4) : Sizes{1};
  const auto up = inputs.flag(kind.largest ? 5 : 4);
  if (!kernel || !padding || !dilation || !up || inputs.value(2).empty()) return std::nullopt;
  const bool own_stride = stride && !stride->empty();
  Extents all{1, 1};
  const size_t leading = from.sizes.size() - kind.axes;
  for (size_t axis = 0; axis < kind.axes; ++axis) {
    const double wide = at_axis(kernel, axis, kNan);
    const double reach = at_axis(dilation, axis, kNan) * (wide - 1) + 1;
    all.results *=
        windows(from.sizes[leading + axis], reach, own_stride ? at_axis(stride, axis, kNan) : wide,
                at_axis(padding, axis, kNan), *up);
    all.compared *= wide;
  }
  for (size_t i = 0; i < leading; ++i) all.results *= from.sizes[i];
  return all;
}

std::optional<Extents> adapted(const Pool& kind, const OpInputs& inputs, const TensorInput& from) {
  const auto sizes = inputs.numbers(1);
  if (!sizes || sizes->empty()) return std::nullopt;
  Extents all{1, 1};
  const size_t leading = from.sizes.size() - kind.axes;
  for (size_t axis = 0; axis < kind.axes; ++axis) all.results *= at_axis(sizes, axis, kNan);
  for (size_t i = 0; i < leading; ++i) all.results *= from.sizes[i];
  all.compared = all.results > 0 ? from.elements() / all.results : 0;
  return all;
}

WorkAnswer pool_work(const Pool& kind, const OpInputs& inputs) {
  const TensorInput* from = inputs.tensor(0);
  if (from == nullptr) return {WorkKnown::kNoShapes};
  if (from->sizes.size() < kind.axes + 1) return {WorkKnown::kNotCovered};
  const auto extents = kind.adaptive ? adapted(kind, inputs, *from) : pooled(kind, inputs, *from);
  if (!extents) return {WorkKnown::kNoValues};
  if (std::isnan(extents->results)) return {WorkKnown::kNotCovered};
  OpWork work{.kind = OpWorkKind::kReduction, .math = from->type};
  work.flop = extents->results * extents->compared;
  work.read_bytes = from->bytes();
  work.write_bytes =
      extents->results * (element_bytes(from->type) + (kind.largest ? kPlaceBytes : 0));
  return told(work, is_typed(*from));
}

WorkAnswer pool_backward(const PoolBackward& kind, const OpInputs& inputs) {
  const TensorInput* gradient = inputs.tensor(0);
  const TensorInput* input = inputs.tensor(1);
  const bool placed = kind.places != kNoArgument;
  if (gradient == nullptr || input == nullptr) return {WorkKnown::kNoShapes};
  OpWork work{.kind = OpWorkKind::kReduction, .math = gradient->type};
  work.flop = placed ? gradient->elements() : input->elements();
  work.read_bytes = gradient->bytes() + (placed ? gradient->elements() * kPlaceBytes : 0);
  work.write_bytes = bytes_of(input->elements(), *gradient);
  return told(work, is_typed(*gradient));
}

// Elements of the result. Arguments: (input, sizes or none, …, factors) with one factor per axis;
// without a list of factors, the sizes are given.
std::optional<double> resized(const Resize& kind, const OpInputs& inputs, const TensorInput& from) {
  const size_t leading = from.sizes.size() - kind.axes;
  double all = 1;
  for (size_t i = 0; i < leading; ++i) all *= from.sizes[i];
  const auto sizes = inputs.numbers(1);
  const auto factors = inputs.numbers(2 + kind.corners);
  const bool told_sizes = sizes && sizes->size() == kind.axes;
  if (!told_sizes && (!factors || factors->size() != kind.axes)) return std::nullopt;
  for (size_t axis = 0; axis < kind.axes; ++axis) {
    all *= told_sizes ? (*sizes)[axis] : std::floor(from.sizes[leading + axis] * (*factors)[axis]);
  }
  return all;
}

WorkAnswer resize_work(const Resize& kind, const OpInputs& inputs) {
  const TensorInput* from = inputs.tensor(0);
  if (from == nullptr) return {WorkKnown::kNoShapes};
  if (from->sizes.size() != kind.axes + 2) return {WorkKnown::kNotCovered};
  const auto results = resized(kind, inputs, *from);
  if (!results) return {WorkKnown::kNoValues};
  OpWork work{.kind = OpWorkKind::kElementwise, .math = from->type};
  work.flop = kind.taps > 1 ? 2 * kind.taps * *results : 0;
  const double read =
      kind.antialias ? from->stored() : std::min(from->stored(), kind.taps * *results);
  work.read_bytes = bytes_of(read, *from);
  work.write_bytes = bytes_of(*results, *from);
  return told(work, is_typed(*from));
}

// Arguments: (gradient, sizes of the result, sizes of the input, …).
WorkAnswer resize_backward(const Resize& kind, const OpInputs& inputs) {
  const TensorInput* gradient = inputs.tensor(0);
  if (gradient == nullptr) return {WorkKnown::kNoShapes};
  const auto input = inputs.numbers(2);
  if (!input || input->size() != kind.axes + 2) return {WorkKnown::kNoValues};
  OpWork work{.kind = OpWorkKind::kElementwise, .math = gradient->type};
  work.flop = (kind.taps > 1 ? 2 * kind.taps : 1) * gradient->elements();
  work.read_bytes = gradient->bytes();
  work.write_bytes = bytes_of(elements_of(*input), *gradient);
  return told(work, is_typed(*gradient));
}

// Elements read per result element, by interpolation mode: bilinear, nearest, bicubic.
std::optional<double> grid_taps(const OpInputs& inputs) {
  constexpr std::array<double, 3> kTaps = {4, 1, 16};
  const auto mode = inputs.number(2);
  for (size_t i = 0; i < kTaps.size(); ++i) {
    if (mode == static_cast<double>(i)) return kTaps[i];
  }
  return std::nullopt;
}

// Arguments of grid_sampler_2d: input [n, c, h, w], grid [n, h', w', 2], interpolation mode, …
WorkAnswer grid_work(const OpInputs& inputs) {
  const TensorInput* from = inputs.tensor(0);
  const TensorInput* grid = inputs.tensor(1);
  if (from == nullptr || grid == nullptr) return {WorkKnown::kNoShapes};
  if (from->sizes.size() != 4 || grid->sizes.size() != 4) return {WorkKnown::kNotCovered};
  const auto taps = grid_taps(inputs);
  if (!taps) return {WorkKnown::kNoValues};
  const double results = from->sizes[0] * from->sizes[1] * grid->sizes[1] * grid->sizes[2];
  OpWork work{.kind = OpWorkKind::kElementwise, .math = from->type};
  work.flop = *taps > 1 ? 2 * *taps * results : 0;
  work.read_bytes = grid->bytes() + bytes_of(std::min(from->stored(), *taps * results), *from);
  work.write_bytes = bytes_of(results, *from);
  return told(work, is_typed(*from) && is_typed(*grid));
}

}  // namespace

std::optional<WorkAnswer> pooling_work(std::string_view op, const OpInputs& inputs) {
  if (const Pool* kind = find_op(kPools, op)) return pool_work(*kind, inputs);
  if (const PoolBackward* kind = find_op(kPoolsBackward, op)) return pool_backward(*kind, inputs);
  if (const Resize* kind = find_op(kResizes, op)) return resize_work(*kind, inputs);
  if (op == "aten::grid_sampler_2d") return grid_work(inputs);
  constexpr std::string_view kBackward = "_backward";
  if (!op.ends_with(kBackward)) return std::nullopt;
  op.remove_suffix(kBackward.size());
  if (const Resize* kind = find_op(kResizes, op)) return resize_backward(*kind, inputs);
  return std::nullopt;
}

}  // namespace assay
