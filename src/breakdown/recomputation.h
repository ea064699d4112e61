#pragma once

// Finds backward nodes that repeat a part of the forward pass (activation checkpointing).

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "breakdown/forward_links.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Differentiable operators inside a node are no proof: with create_graph every operator of the
// backward pass is differentiable. A node recomputes in two cases: its operators repeat a sequence
// of forward operators that includes the node's own forward operator; or it contains the forward of
// a user's autograd::Function that ran in the forward pass.
class Recomputation {
 public:
  Recomputation(const Trace& trace, const Links& links, const ForwardLinks& forward_links);
  bool repeats_forward(OpId node) const { return repeating_.contains(node.value); }

 private:
  using Ops = std::vector<OpId>;
  // Sets `node` to the innermost enclosing backward node, if any. False if another differentiable
  // operator is in between.
  bool outermost(OpId op, OpId& node) const;
  bool repeats(const Ops& run, OpId node) const;
  bool runs_own_function(const Ops& run) const;
  StringId name(OpId op) const { return trace_.ops.name[op.index()]; }

  const Trace& trace_;
  const Links& links_;
  const ForwardLinks& forward_links_;
  Ops forward_;                                 // outermost, outside every node, in table order
  std::unordered_map<uint32_t, size_t> place_;  // index in forward_
  std::unordered_set<uint32_t> names_;          // of forward_
  std::unordered_set<uint32_t> repeating_;
};

}  // namespace assay
