#pragma once

// Sizes of operator results, inferred from their gradients. Autograd gives each differentiable
// operator a sequence number. The backward node with the same number receives the gradient of the
// result, which has the size of the result. Without recorded argument values, this is the only
// source of the result size of a convolution and of the widths of FBGEMM's tables.

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

  // trace and links must outlive it. input_row: per operator, its row in op_inputs; kNone if it has
  // none.
  ConvolutionGradients(const Trace& trace, const Links& links,
                       const std::vector<uint32_t>& input_row);

  // Row in op_inputs of the backward node's arguments, for this operator or the enclosing one that
  // has its sequence number. kNone if nothing was recorded, or if nodes with the same number
  // disagree, as nodes of several threads may.
  uint32_t row_of(OpId op) const;

 private:
  const Links& links_;
  std::vector<int64_t> forward_number_;         // per operator; -1 = none
  std::unordered_map<int64_t, uint32_t> node_;  // by sequence number
};

// The same for profilers of early 2021, which do not record sequence numbers: convolutions are
// matched by the sizes of input and weight, which the backward pass also has. The result size is
// known if there are as many gradients as convolutions with these sizes, and all gradients have one
// size. Convolutions that differ only in stride or padding have gradients of different sizes, and
// one that is not differentiated makes the counts unequal.
class ConvolutionsBySize {
 public:
  // input_row: as for ConvolutionGradients.
  ConvolutionsBySize(const Trace& trace, const std::vector<uint32_t>& input_row);

  // Result size of a convolution with this text of dims; empty if unknown.
  Sizes result_of(StringId op, StringId dims) const;

 private:
  std::map<std::pair<uint32_t, uint32_t>, Sizes> results_;  // by operator and dims
};

// Matches FBGEMM's lookups with their backward nodes. A node does not have its lookup's sequence
// number, so they are matched by sizes: the gradient has a row for each bag of the lookup, and one
// tensor of the node is as long as the indices. A match requires that exactly one earlier lookup
// without a node fits.
class LookupGradients {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // input_row: as for ConvolutionGradients.
  LookupGradients(const Trace& trace, const Links& links, const std::vector<uint32_t>& input_row);

  // Row in op_inputs: for a lookup, its node's arguments; for a node, its lookup's. kNone if
  // unmatched.
  uint32_t row_of(OpId op) const;

 private:
  std::unordered_map<OpId, uint32_t> other_;
};

}  // namespace assay
