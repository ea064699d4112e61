#include "answers/host_calls.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/stats.h"
#include "trace/launch_wait.h"

namespace assay {
namespace {

// Per operator: its duration without operators and calls inside it.
std::vector<int64_t> own_times(const Trace& trace, const Links& links) {
  std::vector<int64_t> own_ns(trace.ops.size());
  for (uint32_t i = 0; i < trace.ops.size(); ++i) own_ns[i] = trace.ops.dur_ns[i];
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    if (const OpId parent = links.op_parent[i]) own_ns[parent.index()] -= trace.ops.dur_ns[i];
  }
  // Calls of one thread are sorted by time; driver calls are nested in runtime calls.
  std::vector<int64_t> told_ns(trace.ops.size(), INT64_MIN);
  for (uint32_t i = 0; i < trace.api_calls.size(); ++i) {
    const OpId op = links.call_op[i];
    if (!op) continue;
    int64_t& until_ns = told_ns[op.index()];
    const int64_t end_ns = trace.end_ns(ApiCallId(i));
    own_ns[op.index()] -=
        std::max<int64_t>(0, end_ns - std::max(until_ns, trace.api_calls.start_ns[i]));
    until_ns = std::max(until_ns, end_ns);
  }
  return own_ns;
}

bool inside(const std::vector<Interval>& spans, int64_t ns) {
  return interval_at(spans, ns) < spans.size();
}

}  // namespace

std::vector<Interval> iteration_spans(const Windows& windows) {
  std::vector<Interval> spans;
  spans.reserve(windows.windows.size());
  for (const Window& window : windows.windows) spans.push_back({window.start_ns, window.end_ns});
  for (size_t i = 0; i + 1 < spans.size() && windows.source != WindowSource::kLabel; ++i) {
    spans[i].end_ns = std::max(spans[i].end_ns, spans[i + 1].start_ns);
  }
  return spans;
}

std::vector<DiffHostCalls> host_calls(const Trace& trace, const Links& links,
                                      const std::vector<Interval>& spans, bool with_launches) {
  std::unordered_map<uint32_t, std::vector<int64_t>> times;  // by StringId
  const std::vector<int64_t> own_ns = own_times(trace, links);
  for (uint32_t i = 0; i < trace.ops.size(); ++i) {
    if (!inside(spans, trace.ops.start_ns[i])) continue;
    times[trace.ops.name[i].value].push_back(std::max<int64_t>(0, own_ns[i]));
  }
  for (uint32_t i = 0; with_launches && i < trace.api_calls.size(); ++i) {
    if (links.role_of(trace, ApiCallId(i)) != ApiRole::kKernelLaunch) continue;
    if (!inside(spans, trace.api_calls.start_ns[i])) continue;
    if (trace.api_calls.dur_ns[i] > kLaunchBackPressureNs) continue;  // waits for queue space
    times[trace.api_calls.name[i].value].push_back(trace.api_calls.dur_ns[i]);
  }
  std::vector<DiffHostCalls> found;
  for (auto& [name, of_name] : times) {
    const auto calls = static_cast<uint64_t>(of_name.size());
    found.push_back({std::string(trace.text(StringId(name))), calls,
                     static_cast<double>(median_ns(std::move(of_name)))});
  }
  std::sort(found.begin(), found.end(),
            [](const DiffHostCalls& x, const DiffHostCalls& y) { return x.name < y.name; });
  return found;
}

}  // namespace assay
