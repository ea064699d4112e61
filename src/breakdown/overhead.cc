#include "breakdown/overhead.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/interval_index.h"
#include "trace/api_names.h"
#include "trace/copy_way.h"

namespace assay {
namespace {

Interval interval_of(const KernelLevel& row) { return {row.t_ks_ns, row.t_ke_ns}; }

bool same_operation(const KernelLevel& a, const KernelLevel& b) {
  return a.op == b.op && a.layer == b.layer && a.phase == b.phase && a.window == b.window;
}

std::vector<Interval> merged_of(const std::vector<KernelLevel>& rows, OpType type) {
  std::vector<Interval> intervals;
  for (const KernelLevel& row : rows) {
    if (row.op_type == type) intervals.push_back(interval_of(row));
  }
  return merge_intervals(std::move(intervals));
}

// Other activity of a GPU, and its idle causes. All are disjoint, except that blocked_comm is a
// part of comm.
struct Beside {
  IntervalIndex comm;
  IntervalIndex blocked_comm;  // collectives while the host waited for the device
  IntervalIndex copies;        // copies and memsets outside collectives
  IntervalIndex other_idle;    // idle time for reasons other than a launch
  IntervalIndex unrecorded;    // time that was not recorded
};

void split_bubble(const Beside& beside, int64_t end_before_ns, KernelLevel& row) {
  const int64_t launch_ns = std::clamp(row.t_l_ns, end_before_ns, row.t_ks_ns);
  const Interval before{end_before_ns, launch_ns};
  const Interval after{launch_ns, row.t_ks_ns};
  const auto rest_of = [&beside](Interval part) {
    return part.end_ns - part.start_ns - beside.comm.length_in(part) -
           beside.copies.length_in(part) - beside.other_idle.length_in(part) -
           beside.unrecorded.length_in(part);
  };
  row.prep_ns = rest_of(before);
  row.call_ns = rest_of(after);
  row.comm_wait_ns = beside.blocked_comm.length_in(before) + beside.comm.length_in(after);
  row.comm_alone_ns = beside.comm.length_in(before) - beside.blocked_comm.length_in(before);
  row.copy_ns = beside.copies.length_in({end_before_ns, row.t_ks_ns});
  row.other_idle_ns = beside.other_idle.length_in({end_before_ns, row.t_ks_ns});
  row.unrecorded_ns = beside.unrecorded.length_in({end_before_ns, row.t_ks_ns});
}

// The parts of merged intervals inside `window`; O(log n + result).
std::vector<Interval> within(const std::vector<Interval>& merged, Interval window) {
  auto first = std::partition_point(merged.begin(), merged.end(), [&](const Interval& interval) {
    return interval.end_ns <= window.start_ns;
  });
  std::vector<Interval> inside;
  for (; first != merged.end() && first->start_ns < window.end_ns; ++first) {
    inside.push_back(
        {std::max(first->start_ns, window.start_ns), std::min(first->end_ns, window.end_ns)});
  }
  return inside;
}

void append(const std::vector<Interval>& spans, BubbleKind kind, uint32_t row,
            std::vector<BubblePart>& parts) {
  for (const Interval& span : spans) parts.push_back({row, kind, span});
}

std::vector<Interval> recorded_in(Interval window, const std::vector<Interval>& unrecorded) {
  if (unrecorded.empty()) return {window};
  return subtract({window}, unrecorded);
}

// Splits the window into waits, other GPU work, and the rest as `kind`, and appends these parts.
void append_parts(Interval window, const std::vector<Interval>& waits,
                  const std::vector<Interval>& works, BubbleKind kind, uint32_t row,
                  std::vector<BubblePart>& parts) {
  if (window.start_ns >= window.end_ns) return;
  const std::vector<Interval> waiting = within(waits, window);
  const std::vector<Interval> working = subtract(within(works, window), waiting);
  append(waiting, BubbleKind::kCommWait, row, parts);
  append(working, BubbleKind::kWork, row, parts);
  append(subtract(subtract({window}, waiting), working), kind, row, parts);
}

// Merged intervals of GPU activities other than compute kernels.
std::vector<Interval> beside_compute(const std::vector<KernelLevel>& rows) {
  std::vector<Interval> intervals;
  for (const KernelLevel& row : rows) {
    if (row.comm || row.op_type == OpType::kCopy) intervals.push_back(interval_of(row));
  }
  return merge_intervals(std::move(intervals));
}

}  // namespace

bool awaits_launch(FlowCause cause, bool host_told) {
  switch (cause) {
    case FlowCause::kLatency:
    case FlowCause::kCall:
    case FlowCause::kDispatch:
    case FlowCause::kPython:
      return true;
    case FlowCause::kHostGap:
      return host_told;
    default:
      return false;
  }
}

std::vector<BubblePart> bubble_parts(const std::vector<KernelLevel>& rows,
                                     const std::vector<Interval>& blocked,
                                     const std::vector<Interval>& unrecorded) {
  const std::vector<Interval> comm = merged_of(rows, OpType::kComm);
  const std::vector<Interval> blocked_comm = intersect(comm, blocked);
  const std::vector<Interval> works = beside_compute(rows);
  std::vector<BubblePart> parts;
  int64_t end_before_ns = 0;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const KernelLevel& row = rows[i];
    if (!row.compute) continue;
    if (row.timed && row.t_ks_ns > end_before_ns) {
      const int64_t launch_ns = std::clamp(row.t_l_ns, end_before_ns, row.t_ks_ns);
      for (const Interval& before : recorded_in({end_before_ns, launch_ns}, unrecorded))
        append_parts(before, blocked_comm, works, BubbleKind::kPrep, i, parts);
      for (const Interval& after : recorded_in({launch_ns, row.t_ks_ns}, unrecorded))
        append_parts(after, comm, works, BubbleKind::kCall, i, parts);
    }
    end_before_ns = row.timed ? std::max(end_before_ns, row.t_ke_ns) : row.t_ke_ns;
  }
  std::sort(parts.begin(), parts.end(), [](const BubblePart& a, const BubblePart& b) {
    return a.span.start_ns < b.span.start_ns;
  });
  return parts;
}

std::vector<Interval> blocked_host(const Trace& trace, const Links& links) {
  std::vector<Interval> blocked;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    if (!is_blocking(links.role_of(trace, ApiCallId(c)))) continue;
    blocked.push_back({trace.api_calls.start_ns[c], trace.end_ns(ApiCallId(c))});
  }
  return merge_intervals(std::move(blocked));
}

CauseTimes measure_gpu(std::vector<KernelLevel>& rows, const std::vector<Interval>& blocked,
                       const std::vector<Interval>& unrecorded, const std::vector<FlowSlice>& idle,
                       bool host_told) {
  const std::vector<Interval> comm = merged_of(rows, OpType::kComm);
  const std::vector<Interval> copies = merged_of(rows, OpType::kCopy);
  const std::vector<Interval> works = beside_compute(rows);
  std::vector<Interval> other_idle;
  for (const FlowSlice& slice : idle) {
    if (!awaits_launch(slice.cause, host_told)) other_idle.push_back(slice.span);
  }
  const Beside beside{
      IntervalIndex(comm), IntervalIndex(intersect(comm, blocked)),
      IntervalIndex(subtract(copies, comm)),
      IntervalIndex(subtract(subtract(merge_intervals(std::move(other_idle)), works), unrecorded)),
      IntervalIndex(unrecorded)};
  std::vector<Interval> bubbles;
  const KernelLevel* before = nullptr;
  int64_t end_before_ns = 0;
  for (KernelLevel& row : rows) {
    if (!row.comm) row.overlap_ns = beside.comm.length_in(interval_of(row));
    if (!row.compute) continue;
    row.timed = before != nullptr;
    if (row.timed && row.t_ks_ns >= end_before_ns) {
      split_bubble(beside, end_before_ns, row);
      bubbles.push_back({end_before_ns, row.t_ks_ns});
      if (same_operation(*before, row))
        row.inner_bubble_ns = row.t_ks_ns - end_before_ns - row.unrecorded_ns;
    } else if (row.timed) {
      row.concurrent_ns = std::min(row.t_ke_ns, end_before_ns) - row.t_ks_ns;
    }
    end_before_ns = row.timed ? std::max(end_before_ns, row.t_ke_ns) : row.t_ke_ns;
    before = &row;
  }
  CauseTimes causes{};
  const IntervalIndex between(subtract(merge_intervals(std::move(bubbles)), unrecorded));
  for (const FlowSlice& slice : idle) {
    if (awaits_launch(slice.cause, host_told)) continue;
    causes[static_cast<size_t>(slice.cause)] += between.length_in(slice.span);
  }
  return causes;
}

void measure_gpu_as_chopper(std::vector<KernelLevel>& rows, const Trace& trace) {
  const IntervalIndex comm(merged_of(rows, OpType::kComm));
  std::map<int32_t, int64_t> first_of_iteration;
  for (const KernelLevel& row : rows) first_of_iteration.try_emplace(row.window, row.t_ks_ns);
  const KernelLevel* before = nullptr;
  for (KernelLevel& row : rows) {
    const bool from_host = copy_way(trace.text(row.kernel)) == CopyWay::kToDevice;
    row.compute = !row.comm && row.window >= 0 && row.phase != LevelPhase::kNone &&
                  !(row.op_type == OpType::kCopy && from_host);
    if (row.phase == LevelPhase::kRecompute) row.phase = LevelPhase::kBackward;
    if (!row.comm) row.overlap_ns = comm.length_in(interval_of(row));
    if (!row.compute) continue;
    row.timed = true;
    const int64_t launch_ns = row.t_l_ns == kNoTime ? row.t_ks_ns : row.t_l_ns;
    if (before == nullptr || before->window != row.window) {
      row.call_ns = std::max<int64_t>(row.t_ks_ns - launch_ns, 0);
      row.prep_ns =
          std::max<int64_t>(row.t_ks_ns - first_of_iteration[row.window] - row.call_ns, 0);
    } else {
      const int64_t gap_ns = std::max<int64_t>(row.t_ks_ns - before->t_ke_ns, 0);
      row.prep_ns = std::clamp<int64_t>(launch_ns - before->t_ke_ns, 0, gap_ns);
      row.call_ns = gap_ns - row.prep_ns;
      if (same_operation(*before, row)) row.inner_bubble_ns = gap_ns;
    }
    before = &row;
  }
}

}  // namespace assay
