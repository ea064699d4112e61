#include "breakdown/forward_links.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "trace/flow_ends.h"

namespace assay {

// Also matches the engine's span around the node.
bool ForwardLinks::is_own_node(std::string_view name) {
  return name.find("CppNode<") != std::string_view::npos;
}

ForwardLinks::ForwardLinks(const Trace& trace) : trace_(trace) {
  read_sequences();
  read_flows();
}

void ForwardLinks::read_sequences() {
  if (trace_.op_sequences.empty()) return;
  sequence_.resize(trace_.ops.size());
  for (size_t i = 0; i < trace_.op_sequences.size(); ++i) {
    const OpId op = trace_.op_sequences.op[i];
    const Sequence sequence{trace_.op_sequences.sequence[i], trace_.op_sequences.forward_thread[i]};
    sequence_[op.index()] = sequence;
    if (sequence.forward_thread != 0) continue;
    forward_.push_back({sequence.number, trace_.ops.start_ns[op.index()], op});
  }
  // If operators start at the same time, the inner one comes later, as in the table.
  std::sort(forward_.begin(), forward_.end(), [](const Start& a, const Start& b) {
    return std::tie(a.number, a.start_ns, a.op) < std::tie(b.number, b.start_ns, b.op);
  });
}

void ForwardLinks::read_flows() {
  const ForwardBackwardFlowTable& flows = trace_.forward_backward_flows;
  if (flows.empty() || sequence_.empty()) return;
  const auto pairs = flow_ends(flows);
  for (size_t i = 0; i < flows.size(); ++i) {
    if (flows.is_end[i] == 0) continue;
    const FlowEnds& ends = pairs.at(flows.flow_id[i]);
    if (ends.forward == SIZE_MAX || ends.backward != i) continue;
    const auto to = ops_at(trace_, flows.thread[i], flows.time_ns[i]);
    const auto from = ops_at(trace_, flows.thread[ends.forward], flows.time_ns[ends.forward]);
    for (size_t b = to.first; b < to.second; ++b) {
      if (sequence_[b].forward_thread == 0 || sequence_[b].number < 0) continue;
      for (size_t f = from.first; f < from.second; ++f) {
        if (sequence_[f].forward_thread != 0 || sequence_[f].number != sequence_[b].number)
          continue;
        flow_[OpId(b).value] = OpId(f);
      }
      const OpId by_number = by_sequence(OpId(b));
      if (flow_.count(OpId(b).value) == 0 || !by_number) break;
      ++compared_;
      agree_ += flow_[OpId(b).value] == by_number ? 1 : 0;
      break;
    }
  }
}

OpId ForwardLinks::by_flow(OpId backward) const {
  const auto found = flow_.find(backward.value);
  return found == flow_.end() ? OpId() : found->second;
}

OpId ForwardLinks::by_sequence(OpId backward) const {
  if (sequence_.empty()) return {};
  const Sequence& sequence = sequence_[backward.index()];
  if (sequence.forward_thread == 0 || sequence.number < 0) return {};
  const auto after =
      std::lower_bound(forward_.begin(), forward_.end(),
                       std::pair(sequence.number, trace_.ops.start_ns[backward.index()]),
                       [](const Start& start, const std::pair<int64_t, int64_t>& key) {
                         return std::pair(start.number, start.start_ns) < key;
                       });
  if (after == forward_.begin()) return {};
  const Start& last = *(after - 1);
  if (last.number != sequence.number) return {};
  if (is_own_node(trace_.text(trace_.ops.name[backward.index()])))
    return maker_of_own_node(static_cast<size_t>(after - forward_.begin()) - 1);
  return last.op;
}

// The sequence number is incremented when a node is created, and read when an operator begins. An
// operator with the next number therefore began after the node was created.
OpId ForwardLinks::maker_of_own_node(size_t last) const {
  const OpId from = forward_[last].op;
  const int64_t before_ns = next_number_ns(last);
  OpId numbered = from;  // outermost with this number around it
  const int64_t behind_ns = end_around(from, before_ns, numbered);
  if (!makes_no_own_node(numbered)) return numbered;
  OpId maker;
  int64_t inside_until_ns = behind_ns;
  for (size_t op = from.index() + 1; op < trace_.ops.size(); ++op) {
    const int64_t start_ns = trace_.ops.start_ns[op];
    if (trace_.ops.thread[op] != trace_.ops.thread[from.index()] || start_ns >= before_ns) break;
    if (start_ns < inside_until_ns || sequence_[op].number >= 0 || makes_no_own_node(OpId(op)))
      continue;
    if (maker) return {};
    maker = OpId(op);
    inside_until_ns = trace_.end_ns(maker);
  }
  return maker;
}

bool ForwardLinks::makes_no_own_node(OpId op) const {
  const std::string_view name = trace_.text(trace_.ops.name[op.index()]);
  constexpr std::array<std::string_view, 5> kOthers = {
      "aten::", "c10d::", "c10d_functional::", "_c10d_functional::", "nccl:"};
  const bool other = std::any_of(kOthers.begin(), kOthers.end(),
                                 [&](std::string_view begin) { return name.starts_with(begin); });
  return other || name == "record_param_comms";
}

// Start of the first operator on the same thread with the next number. If there is none, start of
// the operator itself, so that nothing qualifies as later.
int64_t ForwardLinks::next_number_ns(size_t last) const {
  const ThreadId thread = trace_.ops.thread[forward_[last].op.index()];
  for (size_t i = last + 1; i < forward_.size(); ++i) {
    if (forward_[i].number > forward_[last].number + 1) break;
    const bool next = forward_[i].number == forward_[last].number + 1 &&
                      forward_[i].start_ns > forward_[last].start_ns &&
                      trace_.ops.thread[forward_[i].op.index()] == thread;
    if (next) return forward_[i].start_ns;
  }
  return forward_[last].start_ns;
}

// End of the outermost operator around `from` that ends by before_ns. Sets `numbered` to the
// outermost of them that has the same sequence number.
int64_t ForwardLinks::end_around(OpId from, int64_t before_ns, OpId& numbered) const {
  constexpr size_t kMostRows = 4096;  // limit of the search for an enclosing operator
  int64_t end_ns = trace_.end_ns(from);
  for (size_t back = 1; back <= std::min(kMostRows, from.index()); ++back) {
    const OpId op(from.index() - back);
    if (trace_.ops.thread[op.index()] != trace_.ops.thread[from.index()]) break;
    const int64_t its_end_ns = trace_.end_ns(op);
    if (its_end_ns < end_ns || its_end_ns > before_ns) continue;
    end_ns = its_end_ns;
    if (sequence_[op.index()].number == sequence_[from.index()].number) numbered = op;
  }
  return end_ns;
}

ForwardLinks::Found ForwardLinks::forward_of(OpId backward) const {
  if (const OpId op = by_flow(backward)) return {op, PlacedBy::kFlow};
  const OpId op = by_sequence(backward);
  if (!op) return {};
  const bool shared = sequence_[op.index()].number == sequence_[backward.index()].number;
  return {op, shared ? PlacedBy::kSequence : PlacedBy::kBetween};
}

bool ForwardLinks::names_forward_thread(OpId op) const {
  return !sequence_.empty() && sequence_[op.index()].forward_thread != 0;
}

bool ForwardLinks::is_forward(OpId op) const {
  if (sequence_.empty()) return false;
  const Sequence& sequence = sequence_[op.index()];
  return sequence.number >= 0 && sequence.forward_thread == 0;
}

}  // namespace assay
