#include "launch/host_time.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "launch/facts.h"

namespace assay {
namespace {

// PyTorch's DataLoader names its fetches
// "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__".
bool is_input_name(std::string_view name) {
  return name.find("enumerate(DataLoader)") != std::string_view::npos ||
         name.find("DataLoaderIter.__next__") != std::string_view::npos;
}

// Rows of a table that is sorted by thread.
std::pair<size_t, size_t> rows_of(const std::vector<ThreadId>& threads, ThreadId thread) {
  const auto range = std::equal_range(threads.begin(), threads.end(), thread);
  return {range.first - threads.begin(), range.second - threads.begin()};
}

void add_ops(const Trace& trace, const std::vector<OpId>& roots, ThreadId thread,
             HostTimeline& timeline) {
  const auto [first, last] = rows_of(trace.ops.thread, thread);
  for (size_t o = first; o < last; ++o) {
    const Interval span{trace.ops.start_ns[o], trace.end_ns(OpId(o))};
    if (roots[o] == OpId(o)) timeline.recorded.push_back(span);
    if (is_input_name(trace.text(trace.ops.name[o]))) timeline.input.push_back(span);
  }
}

void add_calls(const Trace& trace, const Links& links, ThreadId thread, HostTimeline& timeline) {
  const auto [first, last] = rows_of(trace.api_calls.thread, thread);
  for (size_t c = first; c < last; ++c) {
    const ApiCallId call(c);
    const Interval span{trace.api_calls.start_ns[c], trace.end_ns(call)};
    const ApiRole role = links.role_of(trace, call);
    timeline.recorded.push_back(span);
    if (is_blocking(role)) timeline.blocked.push_back(span);
    const bool launch = role == ApiRole::kKernelLaunch || role == ApiRole::kGraphLaunch;
    if (launch && trace.api_calls.dur_ns[c] > kLaunchBackPressureNs) {
      timeline.blocked.push_back({span.start_ns + kLaunchBackPressureNs, span.end_ns});
    }
    if (copies_to_host(trace, links, call)) timeline.waits.push_back(span);
  }
}

void add_annotations(const Trace& trace, ThreadId thread, HostTimeline& timeline) {
  const auto [first, last] = rows_of(trace.annotations.thread, thread);
  for (size_t a = first; a < last; ++a) {
    if (!is_input_name(trace.text(trace.annotations.name[a]))) continue;
    const int64_t start = trace.annotations.start_ns[a];
    timeline.input.push_back({start, start + trace.annotations.dur_ns[a]});
  }
}

void append(const std::vector<Interval>& from, std::vector<Interval>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

HostTimeline host_timeline(const Trace& trace, const Links& links, const std::vector<OpId>& roots,
                           ThreadId thread) {
  HostTimeline timeline;
  add_ops(trace, roots, thread, timeline);
  add_calls(trace, links, thread, timeline);
  add_annotations(trace, thread, timeline);
  timeline.recorded = merge_intervals(std::move(timeline.recorded));
  timeline.blocked = merge_intervals(std::move(timeline.blocked));
  append(timeline.blocked, timeline.waits);
  timeline.waits = merge_intervals(std::move(timeline.waits));
  timeline.input = merge_intervals(std::move(timeline.input));
  return timeline;
}

LaunchingHost launching_host(const std::vector<HostTimeline>& threads) {
  LaunchingHost host;
  std::vector<Interval> active;
  for (const HostTimeline& thread : threads) {
    append(subtract(subtract(thread.recorded, thread.blocked), thread.input), host.busy);
    append(thread.blocked, host.blocked);
    append(thread.input, host.input);
    append(thread.waits, host.waiting);
    append(subtract(thread.recorded, thread.waits), active);
  }
  host.busy = merge_intervals(std::move(host.busy));
  host.blocked = subtract(merge_intervals(std::move(host.blocked)), host.busy);
  host.input = subtract(merge_intervals(std::move(host.input)), host.busy);
  host.input = subtract(host.input, host.blocked);
  host.waiting =
      subtract(merge_intervals(std::move(host.waiting)), merge_intervals(std::move(active)));
  return host;
}

std::vector<Interval> slice(const std::vector<Interval>& merged, Interval window) {
  std::vector<Interval> result;
  if (window.start_ns >= window.end_ns) return result;
  auto interval = std::partition_point(
      merged.begin(), merged.end(),
      [&](const Interval& candidate) { return candidate.end_ns <= window.start_ns; });
  for (; interval != merged.end() && interval->start_ns < window.end_ns; ++interval) {
    result.push_back(
        {std::max(interval->start_ns, window.start_ns), std::min(interval->end_ns, window.end_ns)});
  }
  return result;
}

}  // namespace assay
