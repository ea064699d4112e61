#pragma once

// Maps a backward operator to its forward operator (spec/levels 2.2): by the profiler's fwdbwd
// flows, otherwise by autograd sequence number.

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "breakdown/breakdown.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

class ForwardLinks {
 public:
  explicit ForwardLinks(const Trace& trace);

  struct Found {
    OpId forward;
    PlacedBy by = PlacedBy::kNone;
  };
  // Forward operator of an operator that has a forward sequence number (Fwd thread id not 0) or is
  // at the end of a flow.
  Found forward_of(OpId backward) const;
  OpId by_flow(OpId backward) const;
  // The last forward operator with this sequence number that started before `backward`. A custom
  // C++ node ("CppNode<...>") belongs to the outermost operator with this number around that one,
  // except PyTorch's own operators and collectives, which create no such nodes. If none qualifies,
  // the creator of the node has no sequence number: it is then the only outermost candidate that
  // starts after the last operator with this number and before the first with the next.
  OpId by_sequence(OpId backward) const;

  // True for the node of an autograd::Function written in C++, by its name.
  static bool is_own_node(std::string_view name);

  // True if the operator itself records the forward thread, so it runs in the backward pass.
  bool names_forward_thread(OpId op) const;
  // True if it is recorded as a differentiable forward operator.
  bool is_forward(OpId op) const;

  uint64_t flows() const { return flow_.size(); }
  uint64_t flows_compared() const { return compared_; }
  uint64_t flows_agree() const { return agree_; }

 private:
  struct Sequence {
    int64_t number = -1;  // -1 = none
    int64_t forward_thread = 0;
  };
  struct Start {
    int64_t number;
    int64_t start_ns;
    OpId op;
  };
  void read_sequences();
  void read_flows();
  // last: index in forward_ of the last operator that has the node's sequence number.
  OpId maker_of_own_node(size_t last) const;
  bool makes_no_own_node(OpId op) const;  // PyTorch's own operators, and collectives
  int64_t next_number_ns(size_t last) const;
  int64_t end_around(OpId from, int64_t before_ns, OpId& numbered) const;

  const Trace& trace_;
  std::vector<Sequence> sequence_;           // per op
  std::vector<Start> forward_;               // sorted by (number, start)
  std::unordered_map<uint32_t, OpId> flow_;  // backward op -> forward op
  uint64_t compared_ = 0;
  uint64_t agree_ = 0;
};

}  // namespace assay
