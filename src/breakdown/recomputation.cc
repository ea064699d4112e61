#include "breakdown/recomputation.h"

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "trace/backward_names.h"

namespace assay {
namespace {

// Minimum length: a single equal operator is no proof, since the gradient of a product is a
// product.
constexpr size_t kLeastRepeated = 2;

}  // namespace

Recomputation::Recomputation(const Trace& trace, const Links& links,
                             const ForwardLinks& forward_links)
    : trace_(trace), links_(links), forward_links_(forward_links) {
  std::map<OpId, Ops> runs;  // keyed by node
  for (size_t o = 0; o < trace.ops.size(); ++o) {
    const OpId op(o);
    OpId node;
    if (!forward_links.is_forward(op) || !outermost(op, node)) continue;
    if (node) {
      runs[node].push_back(op);
    } else {
      place_[op.value] = forward_.size();
      forward_.push_back(op);
      names_.insert(name(op).value);
    }
  }
  for (const auto& [node, run] : runs) {
    if (runs_own_function(run) || repeats(run, node)) repeating_.insert(node.value);
  }
}

bool Recomputation::outermost(OpId op, OpId& node) const {
  for (OpId up = links_.op_parent[op.index()]; up; up = links_.op_parent[up.index()]) {
    if (forward_links_.is_forward(up)) return false;
    if (forward_links_.names_forward_thread(up) || is_backward_node(trace_.text(name(up)))) {
      node = up;
      return true;
    }
  }
  return true;
}

// A user's autograd::Function is named by its class, without a namespace; operators have one.
bool Recomputation::runs_own_function(const Ops& run) const {
  return std::any_of(run.begin(), run.end(), [this](OpId op) {
    return names_.contains(name(op).value) && !contains(trace_.text(name(op)), "::");
  });
}

bool Recomputation::repeats(const Ops& run, OpId node) const {
  OpId own = forward_links_.forward_of(node).forward;
  while (own && !place_.contains(own.value)) own = links_.op_parent[own.index()];
  if (!own) return false;
  const size_t at = place_.at(own.value);
  const auto equal = [&](size_t i, size_t f) {
    return name(run[i]) == name(forward_[f]) &&
           trace_.ops.thread[forward_[f].index()] == trace_.ops.thread[own.index()];
  };
  size_t most = 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if (!equal(i, at)) continue;
    size_t before = 0;
    size_t after = 1;
    while (before < std::min(i, at) && equal(i - before - 1, at - before - 1)) ++before;
    while (i + after < run.size() && at + after < forward_.size() && equal(i + after, at + after)) {
      ++after;
    }
    most = std::max(most, before + after);
  }
  return most >= kLeastRepeated && 2 * most >= run.size();
}

}  // namespace assay
