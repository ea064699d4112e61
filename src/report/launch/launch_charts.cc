// Charts of the launch module: SKIP's idle times as one bar per iteration, and timelines with one
// point per launch.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/stats.h"
#include "kernels/name.h"
#include "report/document/chart_limits.h"
#include "report/launch/charts.h"

namespace assay {
namespace {

constexpr size_t kMostWindowGuides = 12;
constexpr size_t kMostNames = 20;
constexpr size_t kTimeBins = 1000;
constexpr size_t kDistributionPoints = 400;

struct IdlePart {
  const char* name;
  int64_t (*of)(const IdleTime& idle);
};
constexpr IdlePart kIdleParts[] = {
    {"idle: calls, operators, allocation", [](const IdleTime& i) { return i.host_busy_ns(); }},
    {"idle: Python and unrecorded host time", [](const IdleTime& i) { return i.host_gaps_ns(); }},
    {"idle: host waits for the device", [](const IdleTime& i) { return i.host_blocked_ns(); }},
    {"idle: data loading", [](const IdleTime& i) { return i.host_input_ns(); }},
    {"idle: launch latency", [](const IdleTime& i) { return i.latency_ns(); }},
    {"idle: work was pending", [](const IdleTime& i) { return i.unseen_ns(); }},
    {"idle: no work submitted", [](const IdleTime& i) { return i.nothing_asked_ns(); }},
    {"idle: no launch record", [](const IdleTime& i) { return i.no_evidence_ns(); }},
    {"copies alone", [](const IdleTime& i) { return i.copy_ns; }},
    {"work of other iterations", [](const IdleTime& i) { return i.other_work_ns; }}};

std::vector<const LaunchMetrics*> strip_windows(const LaunchReport& report) {
  std::vector<const LaunchMetrics*> windows;
  if (report.window_source == WindowSource::kWholeTrace || report.iterations.size() < 2) {
    return {&report.whole};
  }
  for (const size_t i : chart_sample(report.iterations.size())) {
    windows.push_back(&report.iterations[i]);
  }
  return windows;
}

template <typename Of>
Series stack_of(const std::vector<const LaunchMetrics*>& windows, std::string name, const Of& of) {
  Series series{.name = std::move(name), .mark = Mark::kStackedBars};
  for (const LaunchMetrics* window : windows) series.y.push_back(static_cast<double>(of(*window)));
  return series;
}

bool all_zero(const Series& series) {
  return std::all_of(series.y.begin(), series.y.end(), [](double y) { return y == 0; });
}

// The latency of every iteration: GPU busy time, and idle time by cause.
Chart iteration_strip(const LaunchReport& report) {
  const std::vector<const LaunchMetrics*> windows = strip_windows(report);
  const bool one = windows.size() == 1;
  Chart chart{.key = "iteration_strip",
              .title = one ? "Latency: GPU busy, and idle by cause"
                           : "Iterations: GPU busy, and idle by cause",
              .caption = "The parts of a bar sum to IL.",
              .y = {"inference latency, IL", Unit::kNanoseconds},
              .horizontal = one};
  if (windows.size() < report.iterations.size() && !one) {
    chart.caption += " " + sample_words(windows.size(), report.iterations.size());
  }
  for (const LaunchMetrics* window : windows) {
    chart.categories.push_back(one ? "whole trace" : window->name);
  }
  chart.series.push_back(
      stack_of(windows, "GPU busy", [](const LaunchMetrics& m) { return m.busy_in_window_ns; }));
  for (const IdlePart& part : kIdleParts) {
    Series series = stack_of(windows, part.name, [&part](const LaunchMetrics& m) {
      return m.idle_told ? part.of(m.idle) : 0;
    });
    if (!all_zero(series)) chart.series.push_back(std::move(series));
  }
  Series unknown = stack_of(windows, "idle", [](const LaunchMetrics& m) {
    return m.idle_told ? 0 : m.gpu_idle_union_ns;
  });
  if (!all_zero(unknown)) chart.series.push_back(std::move(unknown));
  return chart;
}

Chart top_kernels_chart(const LaunchReport& report) {
  Chart chart{.key = "top_kernels_chart",
              .title = "Most launched kernels: waiting to start, and running",
              .y = {"sum over launches", Unit::kNanoseconds},
              .horizontal = true};
  Series waiting{.name = "launch and queue, Σ t_l", .mark = Mark::kBars};
  Series running{.name = "running, Σ t_k", .mark = Mark::kBars};
  for (size_t i = 0; i < std::min(kMostNames, report.top_kernels.size()); ++i) {
    const TopKernel& kernel = report.top_kernels[i];
    chart.categories.push_back(describe_kernel(kernel.name));
    waiting.y.push_back(static_cast<double>(kernel.launch_queue_sum_ns));
    running.y.push_back(static_cast<double>(kernel.dur_sum_ns));
  }
  chart.series = {std::move(waiting), std::move(running)};
  return chart;
}

// ---- timelines ----

struct Launch {
  int64_t call_ns = 0;
  int64_t wait_ns = 0;
  StringId name;
};

std::vector<Launch> timed_launches(const Trace& trace, const Links& links, const Windows& windows) {
  std::vector<Launch> launches;
  for (const KernelRow& row : list_kernels(trace, links, windows)) {
    if (row.launch_queue_ns >= 0) {
      launches.push_back({row.call_start_ns, row.launch_queue_ns, row.kernel_name});
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const Launch& a, const Launch& b) { return a.call_ns < b.call_ns; });
  return launches;
}

// Keeps the launches with the shortest and the longest wait of each run of neighbours, so that no
// peak is lost.
std::vector<Launch> thinned(const std::vector<Launch>& launches) {
  if (launches.size() <= kMostChartPoints) return launches;
  const auto by_wait = [](const Launch& a, const Launch& b) { return a.wait_ns < b.wait_ns; };
  std::vector<Launch> kept;
  const size_t runs = kMostChartPoints / 2;
  for (size_t run = 0; run < runs; ++run) {
    const auto at = [&](size_t i) {
      return launches.begin() + static_cast<ptrdiff_t>(i * launches.size() / runs);
    };
    const auto [least, most] = std::minmax_element(at(run), at(run + 1), by_wait);
    kept.push_back(*std::min(least, most));
    if (least != most) kept.push_back(*std::max(least, most));
  }
  return kept;
}

std::vector<Guide> window_guides(const Windows& windows, int64_t from_ns) {
  std::vector<Guide> guides;
  if (windows.source == WindowSource::kWholeTrace || windows.windows.size() > kMostWindowGuides) {
    return guides;
  }
  for (const Window& window : windows.windows) {
    guides.push_back(
        {Guide::Across::kX, static_cast<double>(window.start_ns - from_ns), window.name});
  }
  return guides;
}

void add_floor_guide(const LaunchFloor& floor, Guide::Across across, Chart& chart) {
  if (!floor.known()) return;
  chart.guides.push_back({across, static_cast<double>(floor.floor_ns), "launch floor F"});
}

Chart launches_chart(const Trace& trace, const std::vector<Launch>& launches, int64_t from_ns,
                     const Windows& windows, const LaunchReport& report) {
  Chart chart{.key = "launches_over_time",
              .title = "Launch to start, t_l, of every launch over time (SKIP, Figure 4)",
              .x = {"time since the first launch", Unit::kNanoseconds},
              .y = {"t_l", Unit::kNanoseconds, true},
              .guides = window_guides(windows, from_ns)};
  const std::vector<Launch> shown = thinned(launches);
  if (shown.size() < launches.size()) {
    chart.caption = std::to_string(shown.size()) + " of " + std::to_string(launches.size()) +
                    " launches: of neighbours those that wait least and most.";
  }
  Series series{.mark = Mark::kPoints};
  for (const Launch& launch : shown) {
    series.x.push_back(static_cast<double>(launch.call_ns - from_ns));
    series.y.push_back(static_cast<double>(launch.wait_ns));
    series.labels.push_back(describe_kernel(trace.text(launch.name)));
  }
  chart.series = {std::move(series)};
  add_floor_guide(report.floor, Guide::Across::kY, chart);
  return chart;
}

Chart distribution_chart(const std::vector<Launch>& launches, const LaunchReport& report) {
  Chart chart{.key = "launch_distribution",
              .title = "Launch to start: share of launches within a time",
              .x = {"t_l", Unit::kNanoseconds, true},
              .y = {"launches", Unit::kShare}};
  std::vector<int64_t> waits;
  for (const Launch& launch : launches) waits.push_back(launch.wait_ns);
  std::sort(waits.begin(), waits.end());
  Series series{.mark = Mark::kSteps};
  const size_t steps = std::min(kDistributionPoints, waits.size());
  for (size_t step = 1; step <= steps; ++step) {
    const size_t rank = step * waits.size() / steps;
    series.x.push_back(static_cast<double>(waits[rank - 1]));
    series.y.push_back(static_cast<double>(rank) / static_cast<double>(waits.size()));
  }
  chart.series = {std::move(series)};
  const LaunchTimeStats& stats = report.whole.launch_time;
  chart.guides = {{Guide::Across::kX, stats.p50_ns, "p50"},
                  {Guide::Across::kX, stats.p95_ns, "p95"}};
  add_floor_guide(report.floor, Guide::Across::kX, chart);
  return chart;
}

// Number of kernels launched but not started; the maximum per bin if there are many changes.
Series queue_depth(const std::vector<Launch>& launches, int64_t from_ns) {
  std::vector<std::pair<int64_t, int>> changes;
  for (const Launch& launch : launches) {
    changes.emplace_back(launch.call_ns - from_ns, 1);
    changes.emplace_back(launch.call_ns - from_ns + launch.wait_ns, -1);
  }
  // At equal times, starts come first: a launch that starts immediately never queued.
  std::sort(changes.begin(), changes.end());
  const int64_t span = changes.back().first + 1;
  const bool binned = changes.size() > 2 * kTimeBins;
  Series series{.mark = Mark::kSteps};
  int64_t depth = 0;
  int64_t bin = -1;
  for (const auto& [at, change] : changes) {
    depth += change;
    if (!binned) {
      series.x.push_back(static_cast<double>(at));
      series.y.push_back(static_cast<double>(depth));
      continue;
    }
    const auto of =
        static_cast<int64_t>(static_cast<double>(at) / static_cast<double>(span) * kTimeBins);
    if (of != bin) {
      bin = of;
      series.x.push_back(static_cast<double>(bin) * static_cast<double>(span) / kTimeBins);
      series.y.push_back(static_cast<double>(depth));
    }
    series.y.back() = std::max(series.y.back(), static_cast<double>(depth));
  }
  return series;
}

Chart queue_chart(const std::vector<Launch>& launches, int64_t from_ns, const Windows& windows) {
  Chart chart{.key = "queue_depth",
              .title = "Queue depth: kernels launched and not yet started",
              .caption = "All streams together. 1 is a launch on its way; above it, kernels wait.",
              .x = {"time since the first launch", Unit::kNanoseconds},
              .y = {"kernels", Unit::kCount},
              .guides = window_guides(windows, from_ns)};
  chart.series = {queue_depth(launches, from_ns)};
  if (launches.size() > kTimeBins) {
    chart.caption += " The most in each of " + std::to_string(kTimeBins) + " equal spans.";
  }
  return chart;
}

}  // namespace

std::vector<Block> launch_charts(const LaunchReport& report) {
  if (report.whole.kernels == 0) return {};
  std::vector<Block> charts;
  if (!report.whole.gpu_idle_bracket.refused) charts.emplace_back(iteration_strip(report));
  if (!report.top_kernels.empty()) charts.emplace_back(top_kernels_chart(report));
  return charts;
}

void add_launch_timelines(const Trace& trace, const Links& links, const Windows& windows,
                          const LaunchReport& report, Section& launch) {
  const std::vector<Launch> launches = timed_launches(trace, links, windows);
  if (launches.size() < 2) return;
  const int64_t from_ns = launches.front().call_ns;
  std::vector<Block> charts;
  charts.emplace_back(launches_chart(trace, launches, from_ns, windows, report));
  charts.emplace_back(distribution_chart(launches, report));
  charts.emplace_back(queue_chart(launches, from_ns, windows));
  const auto last = std::find_if(launch.blocks.rbegin(), launch.blocks.rend(),
                                 [](const Block& b) { return std::holds_alternative<Chart>(b); });
  launch.blocks.insert(last.base(), charts.begin(), charts.end());
}

}  // namespace assay
