#pragma once

// Sizes of results from their gradients. Autograd numbers each differentiable operator. Its
// backward node has the same number and receives the gradient of the operator's result, which has
// the size of the result. Without recorded argument values, this is the only source of a
// convolution's result and of the widths of FBGEMM's tables.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "roof/inputs.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

class ConvolutionGradients {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // trace and links must outlive it. input_row: index into op_inputs per operator, kNone without
  // one.
  ConvolutionGradients(const Trace& trace, const Links& links,
                       const std::vector<uint32_t>& input_row);

  // Of op_inputs: the arguments of the node that undid this operator, or the one around it that
  // carries its number. kNone where none was recorded, or where nodes of one number disagree, as
  // those of several threads may.
  uint32_t row_of(OpId op) const;

 private:
  const Links& links_;
  std::vector<int64_t> forward_number_;         // per operator; -1 = none
  std::unordered_map<int64_t, uint32_t> node_;  // by number
};

// The same for profilers of early 2021, which do not number operators: matched by the sizes of
// input and weight, which the backward pass has too. Known if the gradients for these sizes are as
// many as the convolutions, and of one size. Two convolutions that differ only in stride or padding
// have gradients of different sizes, and one that is not differentiated makes the counts unequal.
class ConvolutionsBySize {
 public:
  // input_row: as above.
  ConvolutionsBySize(const Trace& trace, const std::vector<uint32_t>& input_row);

  // Sizes of the operator's result, for this text of dims; empty if unknown.
  Sizes result_of(StringId op, StringId dims) const;

 private:
  std::map<std::pair<uint32_t, uint32_t>, Sizes> results_;  // by operator and dims
};

// FBGEMM's lookups and their backward nodes. A node does not have the number of its lookup, so they
// are matched by sizes: the gradient has a row for each bag of the lookup, and one tensor of the
// node is as long as the indices. Exactly one lookup before a node that has no node yet must match.
class LookupGradients {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // input_row: as above.
  LookupGradients(const Trace& trace, const Links& links, const std::vector<uint32_t>& input_row);

  // Index into op_inputs: for a lookup, its node's arguments; for a node, its lookup's. kNone if
  // unmatched.
  uint32_t row_of(OpId op) const;

 private:
  std::unordered_map<OpId, uint32_t> other_;
};

}  // namespace assay
