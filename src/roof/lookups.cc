// Work of indexed operators.
//
// Problem: an operator that reads or writes indexed elements of a tensor does not access all of it.
//
// Method: the index is read once. As many elements of the tensor are accessed as the index has, but
// at most all, because an ideal implementation accesses none twice. Repeated indices depend on
// data, so both are upper bounds.

#include <algorithm>
#include <array>
#include <cmath>

#include "roof/models.h"

namespace assay {
namespace {

// Index of an axis, which counts from the end if negative; nullopt if out of range.
std::optional<size_t> axis_of(const Sizes& sizes, double number) {
  const double at = number < 0 ? number + static_cast<double>(sizes.size()) : number;
  if (!(at >= 0) || at >= static_cast<double>(sizes.size())) return std::nullopt;
  return static_cast<size_t>(at);
}

// Elements of `from` per position of its axis. A vector needs no axis argument.
WorkKnown slice_elements(const TensorInput& from, const std::optional<double>& axis, double& each) {
  const bool one_axis = from.sizes.size() == 1;
  if (!axis && !one_axis) return WorkKnown::kNoValues;
  const auto at = axis_of(from.sizes, axis.value_or(0));
  if (!at) return WorkKnown::kNotCovered;
  const double size = from.sizes[*at];
  each = size > 0 ? from.elements() / size : 0;
  return WorkKnown::kTold;
}

// Slices of a table by index: the requested number, at most all.
WorkAnswer lookup(const TensorInput* table, const TensorInput* index,
                  const std::optional<double>& axis) {
  if (table == nullptr || index == nullptr || table->sizes.empty()) return {WorkKnown::kNoShapes};
  double slice = 0;
  const WorkKnown known = slice_elements(*table, axis, slice);
  if (known != WorkKnown::kTold) return {known};
  OpWork work{.kind = OpWorkKind::kLookup, .math = table->type};
  const double taken = bytes_of(index->elements() * slice, *table);
  work.read_bytes = index->bytes() + std::min(taken, table->bytes());
  work.write_bytes = taken;
  return told(work, is_typed(*table) && is_typed(*index));
}

// Bytes written when rows are added to a table of zeros: the requested rows, at most all. A
// separate earlier call writes the zeros (aten::zero_ of the new tensor). An ideal implementation
// sums the values of a row before it writes them, and reads nothing back.
double added_bytes(double asked, double rows, double width, const TensorInput& gradient) {
  return bytes_of(std::min(asked, rows) * width, gradient);
}

WorkAnswer embedding_backward(const OpInputs& inputs) {
  const TensorInput* gradient = inputs.tensor(0);
  const TensorInput* index = inputs.tensor(1);
  const auto rows = inputs.number(2);
  if (gradient == nullptr || index == nullptr || gradient->sizes.empty())
    return {WorkKnown::kNoShapes};
  if (!rows) return {WorkKnown::kNoValues};
  OpWork work{.kind = OpWorkKind::kLookup, .math = gradient->type};
  work.flop = gradient->elements();
  work.read_bytes = gradient->bytes() + index->bytes();
  work.write_bytes = added_bytes(index->elements(), *rows, gradient->sizes.back(), *gradient);
  return told(work, is_typed(*gradient));
}

// Sums the rows of each bag. Arguments of _embedding_bag: weight, indices, offsets, scale_grad,
// mode, sparse, weights, include_last, …
WorkAnswer bag_work(const OpInputs& inputs) {
  const TensorInput* table = inputs.tensor(0);
  const TensorInput* index = inputs.tensor(1);
  const TensorInput* offsets = inputs.tensor(2);
  if (table == nullptr || index == nullptr || offsets == nullptr || table->sizes.size() != 2)
    return {WorkKnown::kNoShapes};
  const auto with_last = inputs.flag(7);
  if (!with_last) return {WorkKnown::kNoValues};
  const double width = table->sizes[1];
  const double bags = std::max(0.0, offsets->elements() - (*with_last ? 1 : 0));
  const TensorInput* scales = inputs.tensor(6);
  OpWork work{.kind = OpWorkKind::kLookup, .math = table->type};
  work.flop = index->elements() * width * (scales != nullptr ? 2 : 1);
  work.read_bytes = index->bytes() + offsets->bytes() +
                    std::min(bytes_of(index->elements() * width, *table), table->bytes()) +
                    (scales != nullptr ? scales->bytes() : 0);
  work.write_bytes = bytes_of(bags * width, *table);
  return told(work, is_typed(*table) && is_typed(*index) && is_typed(*offsets));
}

// Arguments of _embedding_bag_dense_backward: grad [bags, width], indices, offset2bag, bag_size,
// maxima, rows, …
WorkAnswer bag_backward(const OpInputs& inputs) {
  const TensorInput* gradient = inputs.tensor(0);
  const TensorInput* index = inputs.tensor(1);
  const TensorInput* bag_of = inputs.tensor(2);
  if (gradient == nullptr || index == nullptr || bag_of == nullptr || gradient->sizes.size() != 2)
    return {WorkKnown::kNoShapes};
  const auto rows = inputs.number(5);
  if (!rows) return {WorkKnown::kNoValues};
  const double width = gradient->sizes[1];
  OpWork work{.kind = OpWorkKind::kLookup, .math = gradient->type};
  // Max pooling: each gradient element is added to one row.
  const bool largest = inputs.number(7).value_or(0) == 2;
  const double added = largest ? gradient->sizes[0] : index->elements();
  work.flop = added * width;
  work.read_bytes = gradient->bytes() + index->bytes() + bag_of->bytes();
  work.write_bytes = added_bytes(added, *rows, width, *gradient);
  return told(work, is_typed(*gradient) && is_typed(*index) && is_typed(*bag_of));
}

// nll_loss_backward(grad, self, target, …): writes one element per target into a tensor of zeros
// that an earlier call wrote.
WorkAnswer loss_backward(const OpInputs& inputs) {
  const TensorInput* gradient = inputs.tensor(0);
  const TensorInput* self = inputs.tensor(1);
  const TensorInput* target = inputs.tensor(2);
  if (gradient == nullptr || self == nullptr || target == nullptr) return {WorkKnown::kNoShapes};
  OpWork work{.kind = OpWorkKind::kLoss, .math = self->type};
  work.flop = target->elements();
  work.read_bytes = gradient->bytes() + target->bytes();
  work.write_bytes = bytes_of(target->elements(), *self);
  return told(work, is_typed(*gradient) && is_typed(*self) && is_typed(*target));
}

// gather(self, dim, index): one element per index.
WorkAnswer gather(const OpInputs& inputs) {
  const TensorInput* from = inputs.tensor(0);
  const TensorInput* index = inputs.tensor(2);
  if (from == nullptr || index == nullptr) return {WorkKnown::kNoShapes};
  OpWork work{.kind = OpWorkKind::kLookup, .math = from->type};
  const double taken = bytes_of(index->elements(), *from);
  work.read_bytes = index->bytes() + std::min(taken, from->bytes());
  work.write_bytes = taken;
  return told(work, is_typed(*from));
}

// Writes to indexed elements, in place or in a copy of the tensor.
struct Scatter {
  std::string_view op;  // without the trailing underscore of the in-place variant
  bool adds = false;    // reads the previous values
  // The index selects slices along an axis instead of single elements.
  bool slices = false;
};
constexpr auto kScatters = std::to_array<Scatter>({
    {"aten::scatter"},
    {"aten::scatter_add", true},
    {"aten::scatter_reduce", true},
    {"aten::index_copy", false, true},
    {"aten::index_fill", false, true},
    {"aten::index_add", true, true},
    {"aten::index_reduce", true, true},
});

// Arguments of scatter: self, dim, index, source or value; of index_add: self, dim, index, source.
WorkAnswer scatter(const Scatter& kind, bool in_place, const OpInputs& inputs) {
  const TensorInput* into = inputs.tensor(0);
  const TensorInput* index = inputs.tensor(2);
  if (into == nullptr || index == nullptr) return {WorkKnown::kNoShapes};
  double each = 1;
  if (kind.slices && !into->sizes.empty()) {
    const WorkKnown known = slice_elements(*into, inputs.number(1), each);
    if (known != WorkKnown::kTold) return {known};
  }
  const double elements = index->elements() * each;
  const double touched = std::min(elements, into->elements());
  OpWork work{.kind = OpWorkKind::kLookup, .math = into->type};
  work.flop = kind.adds ? elements : 0;
  // A source may be larger than the index; only as many elements as the index has are read.
  const TensorInput* source = inputs.tensor(3);
  const double taken = source == nullptr ? 0 : std::min(elements, source->stored());
  work.read_bytes = index->bytes() + (source == nullptr ? 0 : bytes_of(taken, *source));
  if (in_place && kind.adds) work.read_bytes += bytes_of(touched, *into);
  if (!in_place) work.read_bytes += into->bytes();
  work.write_bytes = bytes_of(in_place ? touched : into->elements(), *into);
  return told(work, is_typed(*into) && is_typed(*index));
}

// Indices of index and index_put: tensors that broadcast to one shape, one per leading axis, of
// eight bytes per element, as PyTorch's kernels read them. Profilers omit lists of optional
// tensors, and the types of list elements. An index with a shape that matches axes of the source
// may be a mask, and the number of elements that it selects depends on data.
struct Indexed {
  WorkKnown known = WorkKnown::kNoShapes;
  double elements = 0;     // of the result
  double index_bytes = 0;  // of all indices
};
Indexed indexed(const TensorInput& from, const OpArgument* list) {
  constexpr double kIndexBytes = 8;
  if (list == nullptr || !list->list || list->tensors.empty()) return {WorkKnown::kNoShapes};
  if (list->tensors.size() > from.sizes.size()) return {WorkKnown::kNotCovered};
  Indexed all{WorkKnown::kTold, elements_of(from.sizes, list->tensors.size()), 0};
  Sizes shape;  // last axis first
  for (const TensorInput& one : list->tensors) {
    const auto first_axis = from.sizes.begin() + (&one - list->tensors.data());
    const bool maybe_mask =
        !one.sizes.empty() && std::search(first_axis, from.sizes.end(), one.sizes.begin(),
                                          one.sizes.end()) != from.sizes.end();
    if (maybe_mask) return {WorkKnown::kNotCovered};
    all.index_bytes += one.stored() * kIndexBytes;
    if (shape.size() < one.sizes.size()) shape.resize(one.sizes.size(), 1);
    for (size_t axis = 0; axis < one.sizes.size(); ++axis) {
      const double size = one.sizes[one.sizes.size() - 1 - axis];
      if (shape[axis] != size && shape[axis] != 1 && size != 1) return {WorkKnown::kNotCovered};
      if (shape[axis] == 1) shape[axis] = size;
    }
  }
  all.elements *= elements_of(shape);
  return all;
}

const OpArgument* argument(const OpInputs& inputs, size_t at) {
  return at < inputs.arguments.size() ? &inputs.arguments[at] : nullptr;
}

WorkAnswer index_work(const OpInputs& inputs) {
  const TensorInput* from = inputs.tensor(0);
  if (from == nullptr) return {WorkKnown::kNoShapes};
  const Indexed taken = indexed(*from, argument(inputs, 1));
  if (taken.known != WorkKnown::kTold) return {taken.known};
  OpWork work{.kind = OpWorkKind::kLookup, .math = from->type};
  work.read_bytes = taken.index_bytes + bytes_of(std::min(taken.elements, from->elements()), *from);
  work.write_bytes = bytes_of(taken.elements, *from);
  return told(work, is_typed(*from));
}

// index_put(self, indices, values, accumulate).
WorkAnswer index_put_work(const OpInputs& inputs) {
  const TensorInput* into = inputs.tensor(0);
  const TensorInput* values = inputs.tensor(2);
  if (into == nullptr || values == nullptr) return {WorkKnown::kNoShapes};
  const Indexed places = indexed(*into, argument(inputs, 1));
  if (places.known != WorkKnown::kTold) return {places.known};
  const auto adds = inputs.flag(3);
  if (!adds) return {WorkKnown::kNoValues};
  const double touched = bytes_of(std::min(places.elements, into->elements()), *into);
  OpWork work{.kind = OpWorkKind::kLookup, .math = into->type};
  work.flop = *adds ? places.elements : 0;
  work.read_bytes = places.index_bytes + values->bytes() + (*adds ? touched : 0);
  work.write_bytes = touched;
  return told(work, is_typed(*into));
}

// Writes every value and its index (eight bytes). An ideal implementation needs one pass.
WorkAnswer ranked_work(const OpInputs& inputs, bool top) {
  constexpr double kPlaceBytes = 8;
  const TensorInput* from = inputs.tensor(0);
  if (from == nullptr) return {WorkKnown::kNoShapes};
  double kept = from->elements();
  if (top) {
    const auto most = inputs.number(1);
    if (!most) return {WorkKnown::kNoValues};
    const auto at = axis_of(from->sizes, inputs.number(2).value_or(-1));
    if (!at || !(from->sizes[*at] > 0)) return {WorkKnown::kNotCovered};
    kept = kept / from->sizes[*at] * *most;
  }
  OpWork work{.kind = OpWorkKind::kMove, .math = from->type};
  work.read_bytes = from->bytes();
  work.write_bytes = bytes_of(kept, *from) + kept * kPlaceBytes;
  return told(work, is_typed(*from));
}

const Scatter* find_scatter(std::string_view op, bool& in_place) {
  in_place = op.ends_with('_');
  if (in_place) op.remove_suffix(1);
  return find_op(kScatters, op);
}

}  // namespace

std::optional<WorkAnswer> lookup_work(std::string_view op, const OpInputs& inputs) {
  bool in_place = false;
  if (const Scatter* kind = find_scatter(op, in_place)) return scatter(*kind, in_place, inputs);
  if (op == "aten::embedding") return lookup(inputs.tensor(0), inputs.tensor(1), 0);
  if (op == "aten::index_select")
    return lookup(inputs.tensor(0), inputs.tensor(2), inputs.number(1));
  if (op == "aten::embedding_dense_backward") return embedding_backward(inputs);
  if (op == "aten::_embedding_bag" || op == "aten::_embedding_bag_forward_only")
    return bag_work(inputs);
  if (op == "aten::_embedding_bag_dense_backward") return bag_backward(inputs);
  if (op == "aten::nll_loss_backward") return loss_backward(inputs);
  if (op == "aten::gather") return gather(inputs);
  if (op == "aten::index") return index_work(inputs);
  if (op == "aten::index_put_" || op == "aten::_index_put_impl_") return index_put_work(inputs);
  if (op == "aten::sort") return ranked_work(inputs, false);
  if (op == "aten::topk") return ranked_work(inputs, true);
  return std::nullopt;
}

}  // namespace assay
