#include "flow/outside.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace assay {
namespace {

int64_t longest_gap_ns(std::vector<Interval> rows) {
  std::sort(rows.begin(), rows.end(),
            [](Interval a, Interval b) { return a.start_ns < b.start_ns; });
  int64_t gap_ns = 0;
  int64_t reach_ns = rows.empty() ? 0 : rows.front().start_ns;
  for (const Interval row : rows) {
    gap_ns = std::max(gap_ns, row.start_ns - reach_ns);
    reach_ns = std::max(reach_ns, row.end_ns);
  }
  return gap_ns;
}

// Host activity in `outside`, the time before or after the window.
HostOnly host_only(const Trace& trace, Interval outside, Interval window) {
  constexpr int64_t kLeastNs = 50'000'000;
  Interval reach{outside.end_ns, outside.start_ns};
  int64_t longest_ns = 0;
  HostOnly only;
  std::vector<Interval> rows;
  const auto look = [&](const auto& table, bool names) {
    const size_t count = table.size();
    for (size_t i = 0; i < count; ++i) {
      const Interval row{table.start_ns[i], table.start_ns[i] + table.dur_ns[i]};
      const Interval within{std::max(row.start_ns, outside.start_ns),
                            std::min(row.end_ns, outside.end_ns)};
      if (within.start_ns >= within.end_ns) continue;
      const bool cut = within.start_ns != row.start_ns || within.end_ns != row.end_ns;
      // A step label that crosses the border does not fill a silence.
      if (names || !cut) rows.push_back(within);
      if (!names || cut) continue;
      reach.start_ns = std::min(reach.start_ns, row.start_ns);
      reach.end_ns = std::max(reach.end_ns, row.end_ns);
      if (table.dur_ns[i] <= longest_ns) continue;
      longest_ns = table.dur_ns[i];
      only.name = trace.text(table.name[i]);
    }
  };
  look(trace.ops, true);
  look(trace.frames, true);
  look(trace.api_calls, true);
  // Sum calls by thread and name: they follow each other.
  std::map<std::pair<uint32_t, StringId>, int64_t> calls_ns;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const ApiCallId call(c);
    const int64_t start_ns = trace.api_calls.start_ns[c];
    if (start_ns < outside.start_ns || trace.end_ns(call) > outside.end_ns) continue;
    int64_t& ns = calls_ns[{trace.api_calls.thread[c].value, trace.api_calls.name[c]}];
    ns += trace.api_calls.dur_ns[c];
    if (ns <= longest_ns) continue;
    longest_ns = ns;
    only.call_ns = ns;
    only.name = trace.text(trace.api_calls.name[c]);
  }
  if (reach.end_ns <= reach.start_ns) return {};
  const int64_t ns = reach.end_ns - reach.start_ns;
  if (ns < kLeastNs || ns * 2 < window.end_ns - window.start_ns) return {};
  only.ns = ns;
  if (longest_ns * 2 < ns) only.name.clear();
  look(trace.annotations, false);
  only.silent_ns = std::min(longest_gap_ns(std::move(rows)), ns);
  return only;
}

}  // namespace

OutsideWindow outside_window(const FlowAnswer& answer) {
  const FlowReport& report = answer.report;
  if (report.told_window || report.evidence.works == 0) return {};
  return {.before = host_only(answer.trace, {INT64_MIN, report.window.start_ns}, report.window),
          .after = host_only(answer.trace, {report.window.end_ns, INT64_MAX}, report.window)};
}

}  // namespace assay
