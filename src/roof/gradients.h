#pragma once

// What came back for an operator: autograd numbers each differentiable operator, and the node that
// undoes it carries the number and the gradient of the operator's result, which has the result's
// sizes. Profilers that recorded no values of arguments tell the result of a convolution only so,
// and the widths of FBGEMM's tables.

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

  // trace and links must outlive it; input_row: of op_inputs per operator, kNone where it has none.
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

// The same where nothing numbers the operators, as profilers of early 2021 have it: by the sizes of
// input and weight, with which the backward pass is called too. Told where as many gradients came
// back for these sizes as there were such convolutions, all of one size: two convolutions that
// differ in stride or padding alone are told apart by that, and one that nobody differentiates
// leaves the sum uneven.
class ConvolutionsBySize {
 public:
  // input_row: as above.
  ConvolutionsBySize(const Trace& trace, const std::vector<uint32_t>& input_row);

  // Sizes of the result of the operator, called with this text of dims; empty where not told.
  Sizes result_of(StringId op, StringId dims) const;

 private:
  std::map<std::pair<uint32_t, uint32_t>, Sizes> results_;  // by operator and dims
};

// FBGEMM's lookups and the nodes that undo them. A node's number is not that of its lookup, so they
// are told by sizes: the gradient has a row for each bag of the lookup, and a tensor that the node
// makes is as long as its indices. Of the lookups before a node whose own node has not come yet,
// one alone must fit.
class LookupGradients {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // input_row: as above.
  LookupGradients(const Trace& trace, const Links& links, const std::vector<uint32_t>& input_row);

  // Of op_inputs: of a lookup, its node's arguments; of a node, its lookup's. kNone without.
  uint32_t row_of(OpId op) const;

 private:
  std::unordered_map<OpId, uint32_t> other_;
};

}  // namespace assay
