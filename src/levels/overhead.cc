#include "levels/overhead.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/interval_index.h"
#include "trace/api_names.h"

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

// What a GPU did beside its compute kernels.
struct Beside {
  IntervalIndex comm;
  IntervalIndex blocked_comm;  // collectives while the host waited for the device
  IntervalIndex copies;        // copies and fills outside collectives
};

void split_bubble(const Beside& beside, int64_t end_before_ns, KernelLevel& row) {
  const int64_t launch_ns = std::clamp(row.t_l_ns, end_before_ns, row.t_ks_ns);
  const int64_t prep_wait_ns = beside.blocked_comm.length_in({end_before_ns, launch_ns});
  const int64_t call_wait_ns = beside.comm.length_in({launch_ns, row.t_ks_ns});
  row.prep_ns = launch_ns - end_before_ns - prep_wait_ns;
  row.call_ns = row.t_ks_ns - launch_ns - call_wait_ns;
  row.comm_wait_ns = prep_wait_ns + call_wait_ns;
  row.copy_ns = beside.copies.length_in({end_before_ns, row.t_ks_ns});
}

// The part of merged intervals that lies in `window`, found by bisection.
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

// Appends the window as waits and, between them, what else it is.
void append_parts(Interval window, const std::vector<Interval>& waits, BubbleKind kind,
                  uint32_t row, std::vector<BubblePart>& parts) {
  if (window.start_ns >= window.end_ns) return;
  const std::vector<Interval> waiting = within(waits, window);
  for (const Interval& span : waiting) parts.push_back({row, BubbleKind::kCommWait, span});
  for (const Interval& span : subtract({window}, waiting)) parts.push_back({row, kind, span});
}

}  // namespace

std::vector<BubblePart> bubble_parts(const std::vector<KernelLevel>& rows,
                                     const std::vector<Interval>& blocked) {
  const std::vector<Interval> comm = merged_of(rows, OpType::kComm);
  const std::vector<Interval> blocked_comm = intersect(comm, blocked);
  std::vector<BubblePart> parts;
  int64_t end_before_ns = 0;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const KernelLevel& row = rows[i];
    if (!row.compute) continue;
    if (row.timed && row.t_ks_ns > end_before_ns) {
      const int64_t launch_ns = std::clamp(row.t_l_ns, end_before_ns, row.t_ks_ns);
      append_parts({end_before_ns, launch_ns}, blocked_comm, BubbleKind::kPrep, i, parts);
      append_parts({launch_ns, row.t_ks_ns}, comm, BubbleKind::kCall, i, parts);
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

void measure_gpu(std::vector<KernelLevel>& rows, const std::vector<Interval>& blocked) {
  const std::vector<Interval> comm = merged_of(rows, OpType::kComm);
  const std::vector<Interval> copies = merged_of(rows, OpType::kCopy);
  const Beside beside{IntervalIndex(comm), IntervalIndex(intersect(comm, blocked)),
                      IntervalIndex(subtract(copies, comm))};
  const KernelLevel* before = nullptr;
  int64_t end_before_ns = 0;
  for (KernelLevel& row : rows) {
    if (!row.comm) row.overlap_ns = beside.comm.length_in(interval_of(row));
    if (!row.compute) continue;
    row.timed = before != nullptr;
    if (row.timed && row.t_ks_ns >= end_before_ns) {
      split_bubble(beside, end_before_ns, row);
      if (same_operation(*before, row)) row.inner_bubble_ns = row.t_ks_ns - end_before_ns;
    } else if (row.timed) {
      row.concurrent_ns = std::min(row.t_ke_ns, end_before_ns) - row.t_ks_ns;
    }
    end_before_ns = row.timed ? std::max(end_before_ns, row.t_ke_ns) : row.t_ke_ns;
    before = &row;
  }
}

void measure_gpu_as_chopper(std::vector<KernelLevel>& rows, const Trace& trace) {
  const IntervalIndex comm(merged_of(rows, OpType::kComm));
  std::map<int32_t, int64_t> first_of_iteration;
  for (const KernelLevel& row : rows) first_of_iteration.try_emplace(row.window, row.t_ks_ns);
  const KernelLevel* before = nullptr;
  for (KernelLevel& row : rows) {
    const std::string_view name = trace.text(row.kernel);
    const bool from_host = name.find("HtoD") != std::string_view::npos ||
                           name.find("HostToDevice") != std::string_view::npos;
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
