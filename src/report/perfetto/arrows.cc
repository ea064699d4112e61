#include "report/perfetto/arrows.h"

#include <algorithm>

#include "report/perfetto/rows.h"
#include "trace/flow_ends.h"

namespace assay {

TimelineArrows::TimelineArrows(const Trace& trace, const Links& links, uint64_t& next_id)
    : trace_(trace), links_(links), first_id_(next_id) {
  next_id += trace.api_calls.size();
  link_backward(next_id);
  for (size_t a = 0; a < trace_.activities.size(); ++a) {
    const bool linked = links_.activity_call[a] && trace_.activities.kind[a] != ActivityKind::kSync;
    left_out_ += linked && !has(ActivityId(a)) ? 1 : 0;
  }
}

std::span<const TimelineArrows::LinkEnd> TimelineArrows::ends_on(OpId op) const {
  const auto range =
      std::equal_range(link_ends_.begin(), link_ends_.end(), LinkEnd{op},
                       [](const LinkEnd& a, const LinkEnd& b) { return a.op < b.op; });
  return std::span(link_ends_)
      .subspan(static_cast<size_t>(range.first - link_ends_.begin()),
               static_cast<size_t>(range.second - range.first));
}

// The importer drops arrows that end before they start.
bool TimelineArrows::has(ActivityId activity) const {
  const ApiCallId call = links_.activity_call[activity.index()];
  return call && trace_.activities.kind[activity.index()] != ActivityKind::kSync &&
         trace_.activities.start_ns[activity.index()] >= trace_.api_calls.start_ns[call.index()];
}

bool TimelineArrows::has(ApiCallId call) const {
  const auto work = links_.activities_of(call);
  return std::any_of(work.begin(), work.end(),
                     [this](ActivityId activity) { return has(activity); });
}

// Among the operators that start at this time, the one with the sequence number, else the first.
OpId TimelineArrows::op_at(ThreadId thread, int64_t time_ns, int64_t sequence) const {
  const auto [begin, end] = ops_at(trace_, thread, time_ns);
  for (size_t op = begin; op < end; ++op) {
    const size_t row = side_row(trace_.op_sequences.op, OpId(op));
    if (row == SIZE_MAX) continue;
    if (sequence < 0 || trace_.op_sequences.sequence[row] == sequence) return OpId(op);
  }
  return begin < end ? OpId(begin) : OpId();
}

// Pairs the ends of the recorded forward-backward flows; only pairs with both operators get an
// arrow.
void TimelineArrows::link_backward(uint64_t& next_id) {
  const ForwardBackwardFlowTable& flows = trace_.forward_backward_flows;
  const auto pairs = flow_ends(flows);
  for (size_t i = 0; i < flows.size(); ++i) {
    const FlowEnds& ends = pairs.at(flows.flow_id[i]);
    if (ends.backward != i) {
      left_out_ += ends.forward == i && ends.backward != SIZE_MAX ? 0 : 1;
      continue;
    }
    const OpId to = op_at(flows.thread[i], flows.time_ns[i], -1);
    const size_t row = to ? side_row(trace_.op_sequences.op, to) : SIZE_MAX;
    const int64_t sequence = row == SIZE_MAX ? -1 : trace_.op_sequences.sequence[row];
    const OpId from = ends.forward == SIZE_MAX ? OpId()
                                               : op_at(flows.thread[ends.forward],
                                                       flows.time_ns[ends.forward], sequence);
    if (!to || !from || trace_.ops.start_ns[from.index()] > trace_.ops.start_ns[to.index()]) {
      ++left_out_;
      continue;
    }
    const uint64_t id = next_id++;
    link_ends_.push_back({from, id, false});
    link_ends_.push_back({to, id, true});
  }
  std::sort(link_ends_.begin(), link_ends_.end());
}

}  // namespace assay
