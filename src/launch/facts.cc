#include "launch/facts.h"
#include "trace/copy_way.h"

#include <algorithm>
#include <string_view>

namespace assay {

std::vector<int64_t> raw_launch_times(const Trace& trace, const Links& links) {
  std::vector<int64_t> raw(trace.activities.size(), kNoLaunchTime);
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    for (ActivityId activity : links.activities_of(ApiCallId(c))) {
      if (!is_kernel(trace, activity)) continue;
      raw[activity.index()] =
          trace.activities.start_ns[activity.index()] - trace.api_calls.start_ns[c];
      break;  // ordered by device start; later kernels of the call also waited for the first
    }
  }
  return raw;
}

std::vector<int32_t> activity_windows(const Trace& trace, const Links& links,
                                      const Windows& windows) {
  std::vector<int32_t> result(trace.activities.size());
  for (size_t a = 0; a < result.size(); ++a) {
    const ApiCallId call = links.activity_call[a];
    result[a] = window_at(
        windows, call ? trace.api_calls.start_ns[call.index()] : trace.activities.start_ns[a]);
  }
  return result;
}

std::vector<OpId> root_ops(const Trace& trace, const Links& links) {
  std::vector<bool> is_step(trace.strings.size());
  for (size_t s = 0; s < is_step.size(); ++s) {
    is_step[s] = trace.text(StringId(s)).substr(0, 13) == "ProfilerStep#";
  }
  std::vector<OpId> roots(trace.ops.size());
  for (size_t o = 0; o < roots.size(); ++o) {
    if (is_step[trace.ops.name[o].index()]) continue;
    // Rows are sorted so that a parent comes before its children.
    const OpId parent = links.op_parent[o];
    const OpId above = parent ? roots[parent.index()] : OpId();
    roots[o] = above ? above : OpId(o);
  }
  return roots;
}

bool is_device_to_host(const Trace& trace, ActivityId activity) {
  if (trace.activities.kind[activity.index()] != ActivityKind::kMemcpy) return false;
  return copy_way(trace.text(trace.activities.name[activity.index()])) == CopyWay::kToHost;
}

bool copies_to_host(const Trace& trace, const Links& links, ApiCallId call) {
  const auto activities = links.activities_of(call);
  return std::any_of(activities.begin(), activities.end(),
                     [&](ActivityId activity) { return is_device_to_host(trace, activity); });
}

bool is_kernel(const Trace& trace, ActivityId activity) {
  return trace.activities.kind[activity.index()] == ActivityKind::kKernel;
}

bool is_graph_kernel(const Trace& trace, const Links& links, ActivityId activity) {
  const ApiCallId call = links.activity_call[activity.index()];
  return call && is_kernel(trace, activity) && links.role_of(trace, call) == ApiRole::kGraphLaunch;
}

Interval interval_of(const Trace& trace, ActivityId activity) {
  return {trace.activities.start_ns[activity.index()], trace.end_ns(activity)};
}

ThreadId busiest_thread(const std::vector<uint64_t>& launches_per_thread) {
  ThreadId best;
  uint64_t most = 0;
  for (size_t t = 0; t < launches_per_thread.size(); ++t) {
    if (launches_per_thread[t] <= most) continue;
    most = launches_per_thread[t];
    best = ThreadId(t);
  }
  return best;
}

}  // namespace assay
