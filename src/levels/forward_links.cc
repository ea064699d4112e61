#include "levels/forward_links.h"

#include <algorithm>
#include <tuple>

#include "trace/flow_ends.h"

namespace assay {

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
  // Of operators that start together the inner one comes later, as it does in the table.
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
  return last.number == sequence.number ? last.op : OpId();
}

ForwardLinks::Found ForwardLinks::forward_of(OpId backward) const {
  if (const OpId op = by_flow(backward)) return {op, PlacedBy::kFlow};
  if (const OpId op = by_sequence(backward)) return {op, PlacedBy::kSequence};
  return {};
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
