#pragma once

// The models behind operator_work(), for each a function that says whether the operator is its own:
// nothing where it is not.

#include <optional>
#include <string_view>

#include "roof/work.h"

namespace assay {

inline constexpr size_t kNoArgument = SIZE_MAX;

std::optional<WorkAnswer> product_work(std::string_view op, const OpInputs& inputs);
std::optional<WorkAnswer> convolution_work(std::string_view op, const OpInputs& inputs,
                                           const EnclosingOp& enclosing);
std::optional<WorkAnswer> attention_work(std::string_view op, const OpInputs& inputs);
// Everything that streams through memory.
std::optional<WorkAnswer> stream_work(std::string_view op, const OpInputs& inputs);

// Pairs of query and key that attention looks at. Query i stands at key i + offset and sees `left`
// keys before it and `right` behind it; negative = all.
struct AttentionWindow {
  double offset = 0;
  double left = -1;
  double right = -1;
};
double attended_pairs(double queries, double keys, const AttentionWindow& window);

// kTold, or kNoTypes where the bytes are those of an element type that is not told.
inline WorkAnswer told(const OpWork& work, bool types) {
  return {types ? WorkKnown::kTold : WorkKnown::kNoTypes, work};
}

}  // namespace assay
