#pragma once

// The models behind operator_work(). Each returns nullopt for an operator that it does not cover.

#include <algorithm>
#include <optional>
#include <string_view>

#include "roof/work.h"

namespace assay {

inline constexpr size_t kNoArgument = SIZE_MAX;

std::optional<WorkAnswer> product_work(std::string_view op, const OpInputs& inputs);
std::optional<WorkAnswer> convolution_work(std::string_view op, const OpInputs& inputs,
                                           const EnclosingOp& enclosing);
// Sizes for matching a convolution with its backward pass; nullopt for other operators, transposed
// convolutions, and unknown sizes.
struct ConvolutionSizes {
  bool backward = false;
  Sizes input;
  Sizes weight;
  Sizes result;  // of a backward pass: the size of the gradient
};
std::optional<ConvolutionSizes> convolution_sizes(std::string_view op, const OpInputs& inputs);
std::optional<WorkAnswer> attention_work(std::string_view op, const OpInputs& inputs);
// Mixture-of-experts operators of inference engines.
std::optional<WorkAnswer> experts_work(std::string_view op, const OpInputs& inputs);
// Indexed operators: gathers, scatters, embeddings, row maxima.
std::optional<WorkAnswer> lookup_work(std::string_view op, const OpInputs& inputs);
// Pooling, interpolation, and their gradients.
std::optional<WorkAnswer> pooling_work(std::string_view op, const OpInputs& inputs);
std::optional<WorkAnswer> fbgemm_work(std::string_view op, const OpInputs& inputs,
                                      const EnclosingOp& enclosing = {});

// FBGEMM's table lookups, and autograd's backward nodes of them.
bool is_lookup(std::string_view op);
bool undoes_lookup(std::string_view op);
struct LookupSizes {
  double tables = 0;
  double indices = 0;
  double bags = 0;  // per table; 0 = unknown from the sizes
};
LookupSizes lookup_sizes(const OpInputs& inputs);
// True for an elementwise operator with a result of its arguments' type; false for comparisons.
bool keeps_type(std::string_view op);
// All other operators that stream through memory.
std::optional<WorkAnswer> stream_work(std::string_view op, const OpInputs& inputs);

// Valid (query, key) pairs of attention. Query i is aligned with key i + offset, and sees `left`
// keys before it and `right` after it; negative = all.
struct AttentionWindow {
  double offset = 0;
  double left = -1;
  double right = -1;
};
double attended_pairs(double queries, double keys, const AttentionWindow& window);

inline bool is_typed(const TensorInput& tensor) { return element_bytes(tensor.type) > 0; }

// Bytes of this number of elements of the tensor's type; 0 if the type is unknown.
inline double bytes_of(double elements, const TensorInput& tensor) {
  return elements * element_bytes(tensor.type);
}

// Value for an axis. `values` may hold one value for all axes; `otherwise` if it has none.
inline double at_axis(const std::optional<Sizes>& values, size_t axis, double otherwise) {
  if (!values || values->empty()) return otherwise;
  if (values->size() == 1) return values->front();
  return axis < values->size() ? (*values)[axis] : otherwise;
}

// The table entry with a matching `op`; nullptr if there is none.
template <typename Table>
auto find_op(const Table& table, std::string_view op) {
  const auto found =
      std::find_if(table.begin(), table.end(), [op](const auto& one) { return one.op == op; });
  return found == table.end() ? nullptr : &*found;
}

// kTold, or kNoTypes if bytes are unknown because an element type is (types = false).
inline WorkAnswer told(const OpWork& work, bool types) {
  return {types ? WorkKnown::kTold : WorkKnown::kNoTypes, work};
}

}  // namespace assay
