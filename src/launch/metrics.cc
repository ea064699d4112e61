#include "launch/metrics.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/numbers.h"
#include "launch/facts.h"
#include "launch/launch_trust.h"
#include "launch/top_kernels.h"
#include "launch/window_metrics.h"

namespace assay {
namespace {

bool is_copy(const Trace& trace, ActivityId activity) {
  const ActivityKind kind = trace.activities.kind[activity.index()];
  return kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemset;
}

void add_activity(const Trace& trace, ActivityId activity, bool count_copies, WindowRows& rows) {
  if (is_kernel(trace, activity)) rows.kernels.push_back(activity);
  if (count_copies && is_copy(trace, activity)) rows.copies.push_back(activity);
}

// Keeps the earlier of rows.earliest_root and `op`; ties keep the first one seen.
void offer_root(const Trace& trace, OpId op, WindowRows& rows) {
  const bool earlier = !rows.earliest_root || trace.ops.start_ns[op.index()] <
                                                  trace.ops.start_ns[rows.earliest_root.index()];
  if (earlier) rows.earliest_root = op;
}

WindowRows whole_rows(const Trace& trace, const std::vector<OpId>& roots, bool count_copies) {
  WindowRows rows;
  rows.window = {"whole trace", std::numeric_limits<int64_t>::min(),
                 std::numeric_limits<int64_t>::max()};
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    add_activity(trace, ActivityId(a), count_copies, rows);
  }
  for (size_t o = 0; o < roots.size(); ++o) {
    if (roots[o] == OpId(o)) offer_root(trace, OpId(o), rows);
  }
  return rows;
}

std::vector<WindowRows> rows_per_window(const Trace& trace, const Links& links,
                                        const Windows& windows, const std::vector<OpId>& roots,
                                        bool count_copies) {
  std::vector<WindowRows> result(windows.windows.size());
  for (size_t w = 0; w < result.size(); ++w) result[w].window = windows.windows[w];
  const std::vector<int32_t> membership = activity_windows(trace, links, windows);
  for (size_t a = 0; a < membership.size(); ++a) {
    if (membership[a] < 0) continue;
    add_activity(trace, ActivityId(a), count_copies, result[membership[a]]);
  }
  for (size_t o = 0; o < roots.size(); ++o) {
    if (roots[o] != OpId(o)) continue;
    const int32_t window = window_at(windows, trace.ops.start_ns[o]);
    if (window >= 0) offer_root(trace, OpId(o), result[window]);
  }
  return result;
}

std::vector<Interval> device_busy(const Trace& trace, const WindowRows& whole) {
  std::vector<Interval> busy;
  busy.reserve(whole.kernels.size() + whole.copies.size());
  for (ActivityId kernel : whole.kernels) busy.push_back(interval_of(trace, kernel));
  for (ActivityId copy : whole.copies) busy.push_back(interval_of(trace, copy));
  return merge_intervals(std::move(busy));
}

double unless_refused(const Bracket& bracket, int64_t value_ns) {
  return bracket.refused ? kNan : static_cast<double>(value_ns);
}

// Iterations without kernels, and values that an iteration does not have (NaN), are left out.
template <typename Value>
MeanInterval mean_of(const std::vector<LaunchMetrics>& iterations, Value value) {
  std::vector<double> values;
  for (const LaunchMetrics& metrics : iterations) {
    const auto number = static_cast<double>(value(metrics));
    if (metrics.kernels > 0 && !std::isnan(number)) values.push_back(number);
  }
  return mean_interval95(values);
}

LaunchMeans means_of(const std::vector<LaunchMetrics>& iterations) {
  using M = LaunchMetrics;
  LaunchMeans means;
  means.kernels = mean_of(iterations, [](const M& m) { return m.kernels; });
  means.launches = mean_of(iterations, [](const M& m) { return m.launches; });
  means.tklqt_ns =
      mean_of(iterations, [](const M& m) { return unless_refused(m.tklqt_bracket, m.tklqt_ns); });
  means.akd_ns = mean_of(iterations, [](const M& m) { return m.akd_ns; });
  means.il_ns =
      mean_of(iterations, [](const M& m) { return unless_refused(m.gpu_idle_bracket, m.il_ns); });
  means.kernel_sum_ns = mean_of(iterations, [](const M& m) { return m.kernel_sum_ns; });
  means.kernel_union_ns = mean_of(iterations, [](const M& m) { return m.kernel_union_ns; });
  means.gpu_idle_eq5_ns = mean_of(
      iterations, [](const M& m) { return unless_refused(m.gpu_idle_bracket, m.gpu_idle_eq5_ns); });
  means.gpu_idle_union_ns = mean_of(iterations, [](const M& m) {
    return unless_refused(m.gpu_idle_bracket, m.gpu_idle_union_ns);
  });
  means.cpu_idle_ns = mean_of(iterations, [](const M& m) {
    return m.cpu_idle_known ? static_cast<double>(m.cpu_idle_ns) : kNan;
  });
  means.launch_time_mean_ns = mean_of(iterations, [](const M& m) { return m.launch_time.mean_ns; });
  means.queue_share = mean_of(iterations, [](const M& m) { return m.queue_share; });
  return means;
}

}  // namespace

std::string_view origin_source_name(OriginSource source) {
  switch (source) {
    case OriginSource::kRootOpWithKernel:
      return "root_op_with_kernel";
    case OriginSource::kEarliestOp:
      return "earliest_op";
    case OriginSource::kEarliestLaunch:
      return "earliest_launch";
    case OriginSource::kEarliestKernel:
      return "earliest_kernel";
    case OriginSource::kNone:
      return "none";
  }
  return "";
}

Result<LaunchReport> analyze_launch(const Trace& trace, const Links& links, const Windows& windows,
                                    const LaunchOptions& options) {
  LaunchReport report;
  const std::vector<int64_t> raw = raw_launch_times(trace, links);
  ASSAY_TRY_ASSIGN(report.floor, floor_or_found(options.floor, trace, links));
  const std::vector<OpId> roots = root_ops(trace, links);

  report.copies_counted = options.count_copies;
  const WindowRows whole = whole_rows(trace, roots, options.count_copies);
  WindowMeter meter(trace, links, report.floor, raw, roots, device_busy(trace, whole));
  if (options.flow != nullptr) meter.explain_by(*options.flow);
  report.whole = meter.measure(whole);
  report.idle_gaps = meter.idle_gaps();

  report.window_source = windows.source;
  report.window_evidence = windows.evidence;
  report.kernels_outside_iterations = report.whole.kernels;
  report.iterations.reserve(windows.windows.size());
  for (const WindowRows& rows :
       rows_per_window(trace, links, windows, roots, options.count_copies)) {
    report.iterations.push_back(meter.measure(rows));
    report.iterations_without_kernels += rows.kernels.empty() ? 1 : 0;
    report.kernels_outside_iterations -= rows.kernels.size();
  }
  report.means = means_of(report.iterations);

  const auto names = given_or_built_in(options.kernels, trace.strings, trace.activities.name);
  report.top_kernels = rank_kernels(trace, *names, raw, report.whole);
  report.kernel_names = report.top_kernels.size();
  if (options.top_kernels > 0 && report.top_kernels.size() > options.top_kernels) {
    report.top_kernels.resize(options.top_kernels);
  }
  report.trust = launch_trust(trace, links, windows, report);
  return report;
}

}  // namespace assay
