#pragma once

// The models behind operator_work(), for each a function that says whether the operator is its own:
// nothing where it is not.

#include <algorithm>
#include <optional>
#include <string_view>

#include "roof/work.h"

namespace assay {

inline constexpr size_t kNoArgument = SIZE_MAX;

std::optional<WorkAnswer> product_work(std::string_view op, const OpInputs& inputs);
std::optional<WorkAnswer> convolution_work(std::string_view op, const OpInputs& inputs,
                                           const EnclosingOp& enclosing);
// Sizes by which a convolution and its backward pass know each other; nothing for other operators,
// for transposed ones, and where a size is not told.
struct ConvolutionSizes {
  bool backward = false;
  Sizes input;
  Sizes weight;
  Sizes result;  // of a backward pass, by its gradient
};
std::optional<ConvolutionSizes> convolution_sizes(std::string_view op, const OpInputs& inputs);
std::optional<WorkAnswer> attention_work(std::string_view op, const OpInputs& inputs);
// Mixtures of experts in inference engines.
std::optional<WorkAnswer> experts_work(std::string_view op, const OpInputs& inputs);
// What an index tells: gathers, scatters, embeddings, the largest of a row.
std::optional<WorkAnswer> lookup_work(std::string_view op, const OpInputs& inputs);
// Pooling, interpolation, and their gradients.
std::optional<WorkAnswer> pooling_work(std::string_view op, const OpInputs& inputs);
std::optional<WorkAnswer> fbgemm_work(std::string_view op, const OpInputs& inputs,
                                      const EnclosingOp& enclosing = {});

// FBGEMM's lookups in tables, and autograd's nodes that undo them.
bool is_lookup(std::string_view op);
bool undoes_lookup(std::string_view op);
struct LookupSizes {
  double tables = 0;
  double indices = 0;
  double bags = 0;  // of each table; 0 = the sizes do not tell
};
LookupSizes lookup_sizes(const OpInputs& inputs);
// An elementwise operator whose result is of its arguments' type; not comparisons.
bool keeps_type(std::string_view op);
// Everything else that streams through memory.
std::optional<WorkAnswer> stream_work(std::string_view op, const OpInputs& inputs);

// Pairs of query and key that attention looks at. Query i stands at key i + offset and sees `left`
// keys before it and `right` behind it; negative = all.
struct AttentionWindow {
  double offset = 0;
  double left = -1;
  double right = -1;
};
double attended_pairs(double queries, double keys, const AttentionWindow& window);

inline bool is_typed(const TensorInput& tensor) { return element_bytes(tensor.type) > 0; }

// Of as many elements of the tensor's type; 0 where that is not told.
inline double bytes_of(double elements, const TensorInput& tensor) {
  return elements * element_bytes(tensor.type);
}

// The value of an axis in a list that may hold one value for all axes.
inline double at_axis(const std::optional<Sizes>& values, size_t axis, double otherwise) {
  if (!values || values->empty()) return otherwise;
  if (values->size() == 1) return values->front();
  return axis < values->size() ? (*values)[axis] : otherwise;
}

// The entry of a table whose `op` it is; nullptr where none is.
template <typename Table>
auto find_op(const Table& table, std::string_view op) {
  const auto found =
      std::find_if(table.begin(), table.end(), [op](const auto& one) { return one.op == op; });
  return found == table.end() ? nullptr : &*found;
}

// kTold, or kNoTypes where the bytes are those of an element type that is not told.
inline WorkAnswer told(const OpWork& work, bool types) {
  return {types ? WorkKnown::kTold : WorkKnown::kNoTypes, work};
}

}  // namespace assay
