#include "launch/host_time.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/launch_wait.h"

namespace assay {
namespace {

// Rows of a table that is sorted by thread.
std::pair<size_t, size_t> rows_of(const std::vector<ThreadId>& threads, ThreadId thread) {
  const auto range = std::equal_range(threads.begin(), threads.end(), thread);
  return {range.first - threads.begin(), range.second - threads.begin()};
}

void add_ops(const Trace& trace, const std::vector<OpId>& roots, ThreadId thread,
             std::vector<Interval>& recorded) {
  const auto [first, last] = rows_of(trace.ops.thread, thread);
  for (size_t o = first; o < last; ++o) {
    if (roots[o] == OpId(o)) recorded.push_back({trace.ops.start_ns[o], trace.end_ns(OpId(o))});
  }
}

void add_calls(const Trace& trace, const Links& links, ThreadId thread,
               std::vector<Interval>& recorded, std::vector<Interval>& blocked) {
  const auto [first, last] = rows_of(trace.api_calls.thread, thread);
  for (size_t c = first; c < last; ++c) {
    const ApiCallId call(c);
    const Interval span{trace.api_calls.start_ns[c], trace.end_ns(call)};
    const ApiRole role = links.role_of(trace, call);
    recorded.push_back(span);
    if (is_blocking(role)) blocked.push_back(span);
    const bool launch = role == ApiRole::kKernelLaunch || role == ApiRole::kGraphLaunch;
    if (launch && trace.api_calls.dur_ns[c] > kLaunchBackPressureNs) {
      blocked.push_back({span.start_ns + kLaunchBackPressureNs, span.end_ns});
    }
  }
}

}  // namespace

HostTimeline host_timeline(const Trace& trace, const Links& links, const std::vector<OpId>& roots,
                           ThreadId thread) {
  std::vector<Interval> recorded;
  std::vector<Interval> blocked;
  add_ops(trace, roots, thread, recorded);
  add_calls(trace, links, thread, recorded, blocked);
  return {IntervalIndex(merge_intervals(std::move(recorded))),
          IntervalIndex(merge_intervals(std::move(blocked)))};
}

}  // namespace assay
