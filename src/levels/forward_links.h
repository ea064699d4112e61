#pragma once

// From a backward operator to the forward operator it undoes (spec/levels 2.2): by the profiler's
// fwdbwd flows, else by autograd sequence number.

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "levels/levels.h"
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
  // For an operator that carries the sequence number of its forward operator (Fwd thread id not 0),
  // or lies at the end of a flow.
  Found forward_of(OpId backward) const;
  OpId by_flow(OpId backward) const;
  // Of the forward operators with this number, the one that started last, before `backward`.
  OpId by_sequence(OpId backward) const;

  // Whether the operator runs in the backward pass by its own word.
  bool names_forward_thread(OpId op) const;
  // Whether it is recorded as a differentiable forward operator.
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

  const Trace& trace_;
  std::vector<Sequence> sequence_;           // per op
  std::vector<Start> forward_;               // by (number, start)
  std::unordered_map<uint32_t, OpId> flow_;  // backward op -> forward op
  uint64_t compared_ = 0;
  uint64_t agree_ = 0;
};

}  // namespace assay
