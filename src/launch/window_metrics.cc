#include "launch/window_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "launch/facts.h"
#include "launch/queue.h"

namespace assay {
namespace {

void add_reason(Bracket& bracket, std::string_view key) {
  if (!bracket.reasons.empty()) bracket.reasons += ',';
  bracket.reasons += key;
}

std::vector<Interval> intervals_of(const Trace& trace, const std::vector<ActivityId>& activities) {
  std::vector<Interval> intervals;
  intervals.reserve(activities.size());
  for (ActivityId activity : activities) intervals.push_back(interval_of(trace, activity));
  return intervals;
}

// Number of kernels with a lost launch call, without kernels queued before the trace began.
uint64_t count_lost_launches(const Trace& trace, const Links& links,
                             const std::vector<ActivityId>& kernels) {
  uint64_t lost = 0;
  for (ActivityId kernel : kernels) {
    lost += !links.activity_call[kernel.index()] && !links.carried_over(trace, kernel);
  }
  return lost;
}

}  // namespace

WindowMeter::WindowMeter(const Trace& trace, const Links& links, const LaunchFloor& floor,
                         const std::vector<int64_t>& raw_launch_times,
                         const std::vector<OpId>& roots, std::vector<Interval> device_busy)
    : trace_(trace),
      links_(links),
      floor_(floor),
      raw_(raw_launch_times),
      roots_(roots),
      device_busy_(IntervalIndex(std::move(device_busy))) {}

LaunchMetrics WindowMeter::measure(const WindowRows& rows) {
  LaunchMetrics metrics;
  metrics.name = rows.window.name;
  count_launches(rows, metrics);
  sum_kernels(rows, metrics);
  find_origin(rows, metrics);
  measure_gpu(rows, metrics);
  measure_cpu(metrics);
  explain_idle(metrics);
  bracket_launches(rows, metrics);
  bracket_idle(rows, metrics);
  return metrics;
}

void WindowMeter::count_launches(const WindowRows& rows, LaunchMetrics& metrics) const {
  std::vector<uint64_t> per_thread(trace_.threads.size(), 0);
  std::vector<int64_t> times;
  metrics.kernels = rows.kernels.size();
  for (ActivityId kernel : rows.kernels) {
    const ApiCallId call = links_.activity_call[kernel.index()];
    if (!call) continue;
    ++metrics.linked;
    const bool graph = links_.role_of(trace_, call) == ApiRole::kGraphLaunch;
    if (graph) {
      ++metrics.graph_kernels;
      metrics.graph_kernel_sum_ns += trace_.activities.dur_ns[kernel.index()];
    }
    const int64_t raw = raw_[kernel.index()];
    if (raw == kNoLaunchTime) continue;  // not the first kernel of its call
    ++metrics.launches;
    metrics.graph_launches += graph ? 1 : 0;
    ++per_thread[trace_.api_calls.thread[call.index()].index()];
    if (is_dropped(raw)) {
      ++metrics.dropped;
      metrics.dropped_ns -= raw;
      continue;
    }
    if (is_clamped(raw)) {
      ++metrics.clamped;
      metrics.clamped_ns -= raw;
      metrics.clamped_max_ns = std::max(metrics.clamped_max_ns, -raw);
    }
    times.push_back(launch_time(raw));
  }
  metrics.dispatching_thread = busiest_thread(per_thread);
  metrics.cpu_idle_known = static_cast<bool>(metrics.dispatching_thread);
  if (metrics.cpu_idle_known) {
    metrics.other_thread_launches =
        metrics.launches - per_thread[metrics.dispatching_thread.index()];
  }
  const bool floor_known = floor_.known();
  for (int64_t time : times) {
    metrics.tklqt_ns += time;
    if (floor_known) metrics.floor_sum_ns += std::min(time, floor_.floor_ns);
  }
  metrics.queue_sum_ns = floor_known ? metrics.tklqt_ns - metrics.floor_sum_ns : 0;
  metrics.queue_share = floor_known ? share(metrics.queue_sum_ns, metrics.tklqt_ns) : kNan;
  metrics.launch_time = launch_time_stats(times);
}

void WindowMeter::sum_kernels(const WindowRows& rows, LaunchMetrics& metrics) const {
  for (ActivityId kernel : rows.kernels) {
    metrics.kernel_sum_ns += trace_.activities.dur_ns[kernel.index()];
  }
  metrics.akd_ns = share(metrics.kernel_sum_ns, static_cast<int64_t>(metrics.kernels));
}

// p_1 and the end of k_n, the kernel that ends last (spec/launch 2).
void WindowMeter::find_origin(const WindowRows& rows, LaunchMetrics& metrics) const {
  if (rows.kernels.empty()) return;
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  int64_t first_root = kNever;
  int64_t first_launch = kNever;
  int64_t first_kernel = kNever;
  metrics.last_end_ns = std::numeric_limits<int64_t>::min();
  for (ActivityId kernel : rows.kernels) {
    metrics.last_end_ns = std::max(metrics.last_end_ns, trace_.end_ns(kernel));
    first_kernel = std::min(first_kernel, trace_.activities.start_ns[kernel.index()]);
    const ApiCallId call = links_.activity_call[kernel.index()];
    if (!call) continue;
    first_launch = std::min(first_launch, trace_.api_calls.start_ns[call.index()]);
    const OpId op = links_.call_op[call.index()];
    const OpId root = op ? roots_[op.index()] : OpId();
    if (!root) continue;
    const int64_t start = trace_.ops.start_ns[root.index()];
    if (start >= rows.window.start_ns) first_root = std::min(first_root, start);
  }
  if (first_root != kNever) {
    metrics.origin = OriginSource::kRootOpWithKernel;
    metrics.origin_ns = first_root;
  } else if (rows.earliest_root) {
    metrics.origin = OriginSource::kEarliestOp;
    metrics.origin_ns = trace_.ops.start_ns[rows.earliest_root.index()];
  } else if (first_launch != kNever) {
    metrics.origin = OriginSource::kEarliestLaunch;
    metrics.origin_ns = first_launch;
  } else {
    metrics.origin = OriginSource::kEarliestKernel;
    metrics.origin_ns = first_kernel;
  }
  const Interval span = span_of(metrics);
  metrics.il_ns = span.end_ns - span.start_ns - length_in(trace_.unrecorded, span);
}

void WindowMeter::measure_gpu(const WindowRows& rows, LaunchMetrics& metrics) {
  const Interval window = span_of(metrics);
  std::vector<Interval> busy = merge_intervals(intervals_of(trace_, rows.kernels));
  metrics.kernel_union_ns = length_ns(busy);
  if (!rows.copies.empty()) {
    const std::vector<Interval> copies = intervals_of(trace_, rows.copies);
    busy.insert(busy.end(), copies.begin(), copies.end());
    busy = merge_intervals(std::move(busy));
  }
  busy = clip(busy, window);
  idle_gaps_ = metrics.il_ns > 0 ? subtract(subtract({window}, trace_.unrecorded), busy)
                                 : std::vector<Interval>();
  metrics.busy_in_window_ns = length_ns(busy);
  metrics.gpu_idle_union_ns = metrics.il_ns - metrics.busy_in_window_ns;
  metrics.gpu_idle_eq5_ns = metrics.il_ns - metrics.kernel_sum_ns;
}

void WindowMeter::measure_cpu(LaunchMetrics& metrics) {
  metrics.cpu_blocking_share = kNan;
  if (!metrics.cpu_idle_known) return;
  const Interval window = span_of(metrics);
  const HostTimeline& host = timeline_of(metrics.dispatching_thread);
  const int64_t recorded = host.recorded.length_in(window);
  metrics.cpu_blocked_ns = host.blocked.length_in(window);
  metrics.cpu_busy_ns = recorded - metrics.cpu_blocked_ns;
  metrics.cpu_idle_ns = metrics.il_ns - metrics.cpu_busy_ns;
  metrics.cpu_unrecorded_ns = metrics.il_ns - recorded;
  metrics.cpu_blocking_share = share(metrics.cpu_blocked_ns, metrics.cpu_idle_ns);
}

void WindowMeter::explain_idle(LaunchMetrics& metrics) const {
  metrics.idle_told = idle_.has_value();
  if (idle_) metrics.idle = idle_->in(idle_gaps_);
}

void WindowMeter::bracket_launches(const WindowRows& rows, LaunchMetrics& metrics) const {
  Bracket& bracket = metrics.tklqt_bracket;
  if (metrics.kernels == 0) return;
  if (metrics.launch_time.n == 0) {
    bracket.refused = true;
    add_reason(bracket, metrics.linked == 0 ? "unlinked_kernels" : "dropped_launches");
    return;
  }
  const auto timed = static_cast<int64_t>(metrics.launch_time.n);
  bracket.low_ns = metrics.tklqt_ns;
  bracket.high_ns = metrics.tklqt_ns;
  if (trace_.whole_microseconds) {
    bracket.low_ns -= timed * kMicrosecondNs;
    bracket.high_ns += timed * kMicrosecondNs;
    add_reason(bracket, "whole_microseconds");
  }
  if (metrics.clamped > 0) {
    // Lower end: the sum without clamping. Upper end: a clock offset that made t_l negative reduced
    // every t_l by at least as much.
    bracket.low_ns -= metrics.clamped_ns;
    bracket.high_ns += timed * metrics.clamped_max_ns;
    add_reason(bracket, "clamped_launches");
  }
  const uint64_t unlinked = count_lost_launches(trace_, links_, rows.kernels);
  const auto untimed = static_cast<double>(unlinked + metrics.dropped);
  bracket.high_ns += std::llround(untimed * metrics.launch_time.p95_ns);
  if (unlinked > 0) add_reason(bracket, "unlinked_kernels");
  if (metrics.dropped > 0) add_reason(bracket, "dropped_launches");
  bracket.low_ns = std::max<int64_t>(0, bracket.low_ns);
}

void WindowMeter::bracket_idle(const WindowRows& rows, LaunchMetrics& metrics) const {
  Bracket& bracket = metrics.gpu_idle_bracket;
  if (metrics.kernels == 0) return;
  if (metrics.il_ns == 0) {
    bracket.refused = true;
    add_reason(bracket, "inverted_window");
    return;
  }
  const Interval window = span_of(metrics);
  bracket.low_ns = metrics.il_ns - device_busy_.length_in(window);
  bracket.high_ns = metrics.gpu_idle_union_ns;
  if (bracket.low_ns < metrics.gpu_idle_union_ns) add_reason(bracket, "neighbour_kernels");
  if (metrics.linked < metrics.kernels) {
    std::vector<ActivityId> linked = rows.copies;
    for (ActivityId kernel : rows.kernels) {
      if (links_.activity_call[kernel.index()]) linked.push_back(kernel);
    }
    const auto busy = merge_intervals(intervals_of(trace_, linked));
    bracket.high_ns = metrics.il_ns - length_ns(clip(busy, window));
    if (bracket.high_ns > metrics.gpu_idle_union_ns) add_reason(bracket, "unlinked_kernels");
  }
  if (trace_.whole_microseconds) {
    const int64_t resolution = static_cast<int64_t>(metrics.kernels) * kMicrosecondNs;
    bracket.low_ns = std::max<int64_t>(0, bracket.low_ns - resolution);
    bracket.high_ns = std::min(metrics.il_ns, bracket.high_ns + resolution);
    add_reason(bracket, "whole_microseconds");
  }
}

Interval WindowMeter::span_of(const LaunchMetrics& metrics) {
  return {metrics.origin_ns, std::max(metrics.origin_ns, metrics.last_end_ns)};
}

const HostTimeline& WindowMeter::timeline_of(ThreadId thread) {
  const auto known = timelines_.find(thread);
  if (known != timelines_.end()) return known->second;
  return timelines_.emplace(thread, host_timeline(trace_, links_, roots_, thread)).first->second;
}

}  // namespace assay
