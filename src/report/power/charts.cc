#include "report/power/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr size_t kMostDrawn = 2000;  // points of a curve

Series points_of(const char* name, const std::vector<ProfilePoint>& points) {
  Series series{.name = name, .mark = Mark::kPoints};
  for (const ProfilePoint& point : points) {
    series.x.push_back(static_cast<double>(point.toi_ns));
    series.y.push_back(point.power_w);
  }
  return series;
}

// The fit with its band.
Series curve_of(const char* name, const std::vector<ProfilePoint>& points) {
  Series series = points_of(name, points);
  series.mark = Mark::kLine;
  const bool band = std::any_of(points.begin(), points.end(), [](const ProfilePoint& point) {
    return std::isfinite(point.low_w) && std::isfinite(point.high_w);
  });
  if (!band) return series;
  for (const ProfilePoint& point : points) {
    series.low.push_back(point.low_w);
    series.high.push_back(point.high_w);
  }
  return series;
}

Chart profile_chart(const KernelProfile& kernel, size_t place) {
  Chart chart{
      .key = fmt::format("profile_{}", place),
      .title = fmt::format("Power in an execution of {} (FinGraV, Figures 6 and 8)", kernel.name),
      .caption =
          "Points are samples at their time in the execution; lines are fits with their 95 % "
          "band. SSE is the first settled execution, SSP the last, power settled too.",
      .x = {.title = "time in the execution", .unit = Unit::kNanoseconds},
      .y = {.title = "power", .unit = Unit::kWatts}};
  for (Series& series : std::vector<Series>{
           points_of("SSP samples", kernel.lois_points), curve_of("SSP fit", kernel.curve),
           points_of("SSE samples", kernel.sse_points), curve_of("SSE fit", kernel.sse_curve),
           curve_of("XCD", kernel.components[0].curve), curve_of("IOD", kernel.components[1].curve),
           curve_of("HBM", kernel.components[2].curve)}) {
    if (!series.y.empty()) chart.series.push_back(std::move(series));
  }
  for (const auto& [value, label] :
       {std::pair{kernel.ssp_w, "SSP, mean"}, std::pair{kernel.idle_w, "idle"}}) {
    if (std::isfinite(value)) chart.guides.push_back({Guide::Across::kY, value, label});
  }
  return chart;
}

// Error from sampling too early: SSE and SSP power of every kernel side by side.
Chart settled_chart(const PowerReport& report) {
  Chart chart{.key = "sse_ssp",
              .title =
                  "Power of the first settled execution and of settled power (FinGraV, "
                  "Section V-C1)",
              .caption = "Whiskers: 95 % interval of SSP.",
              .x = {.title = "kernel", .unit = Unit::kText},
              .y = {.title = "power", .unit = Unit::kWatts}};
  Series sse{.name = "SSE", .mark = Mark::kBars};
  Series ssp{.name = "SSP", .mark = Mark::kBars};
  for (const KernelProfile& kernel : report.kernels) {
    if (!std::isfinite(kernel.ssp_w)) continue;
    chart.categories.push_back(kernel.name);
    sse.y.push_back(kernel.sse_w);
    ssp.y.push_back(kernel.ssp_w);
    ssp.low.push_back(kernel.ssp_low_w);
    ssp.high.push_back(kernel.ssp_high_w);
  }
  chart.series = {std::move(sse), std::move(ssp)};
  return chart;
}

Chart components_chart(const PowerReport& report) {
  Chart chart{.key = "components",
              .title = "Power by component (FinGraV, Figures 7 and 10)",
              .caption = "Means of settled power, if the sensor separates components.",
              .x = {.title = "kernel", .unit = Unit::kText},
              .y = {.title = "power", .unit = Unit::kWatts}};
  std::vector<Series> series;
  series.push_back({.name = "total", .mark = Mark::kBars});
  for (const char* name : kComponentNames) series.push_back({.name = name, .mark = Mark::kBars});
  for (const KernelProfile& kernel : report.kernels) {
    if (!std::isfinite(kernel.rest_w)) continue;
    chart.categories.push_back(kernel.name);
    series[0].y.push_back(kernel.ssp_w);
    for (size_t i = 0; i < kComponentNames.size(); ++i) {
      series[i + 1].y.push_back(kernel.components[i].ssp_w);
    }
  }
  chart.series = std::move(series);
  return chart;
}

// At most kMostDrawn points, evenly spaced.
Series some_points_of(const std::string& name, const std::vector<ProfilePoint>& points) {
  Series series{.name = name, .mark = Mark::kPoints};
  const size_t stride = points.size() / kMostDrawn + 1;
  for (size_t i = 0; i < points.size(); i += stride) {
    series.x.push_back(static_cast<double>(points[i].toi_ns));
    series.y.push_back(points[i].power_w);
  }
  return series;
}

// Benefit of a strategy over the time of a run: warm-ups, then SSE, then SSP.
Chart contrast_chart(const StrategyContrast& contrast, size_t place) {
  Chart chart{.key = fmt::format("strategy_{}", place),
              .title = fmt::format("{}, power over a run: {} or {} (FinGraV, {})", contrast.name,
                                   contrast.with, contrast.without, contrast.figure),
              .caption = "One point per sample, of at most 2000 each; before SSE are warm-ups.",
              .x = {.title = "time since the run's first execution", .unit = Unit::kNanoseconds},
              .y = {.title = "power", .unit = Unit::kWatts}};
  chart.series.push_back(some_points_of(contrast.with, contrast.with_points));
  chart.series.push_back(some_points_of(contrast.without, contrast.without_points));
  for (const auto& [from_ns, label] :
       {std::pair{contrast.sse_from_ns, "SSE"}, std::pair{contrast.ssp_from_ns, "SSP"}}) {
    if (from_ns > 0) {
      chart.guides.push_back({Guide::Across::kX, static_cast<double>(from_ns), label});
    }
  }
  return chart;
}

// Measured and modelled power over time, which makes a wrong offset visible.
Chart fit_chart(const EnergyReport& report) {
  Chart chart{.key = "energy_fit",
              .title = "Power as measured and as the model has it",
              .caption = "One point per update of the sensor, at the end of what it averaged over.",
              .x = {.title = "time in the trace", .unit = Unit::kNanoseconds},
              .y = {.title = "power", .unit = Unit::kWatts}};
  Series measured{.name = "measured", .mark = Mark::kPoints};
  Series model{.name = "base and kernels, modelled", .mark = Mark::kLine};
  Series left{.name = "measured less modelled", .mark = Mark::kLine};
  const size_t stride = report.fit.size() / kMostDrawn + 1;
  for (size_t i = 0; i < report.fit.size(); i += stride) {
    const EnergyReport::FitPoint& point = report.fit[i];
    const auto t = static_cast<double>(point.t_ns - report.fit.front().t_ns);
    for (Series* series : {&measured, &model, &left}) series->x.push_back(t);
    measured.y.push_back(point.power_w);
    model.y.push_back(point.model_w);
    left.y.push_back(point.power_w - point.model_w);
  }
  if (stride > 1) chart.caption += fmt::format(" One in {} is drawn.", stride);
  chart.series = {std::move(measured), std::move(model), std::move(left)};
  if (report.follows) chart.guides = {{Guide::Across::kY, report.base_w, "base"}};
  return chart;
}

// Fit quality for every offset of the log: shows whether the minimum is unique.
Chart offset_chart(const EnergyReport& report) {
  Chart chart{.key = "energy_offset",
              .title = "How well each offset of the log fits",
              .caption =
                  "Sum of squares above the best, with everything else fitted again; what "
                  "lies under the line is allowed.",
              .x = {.title = "delay of the log", .unit = Unit::kNanoseconds},
              .y = {.title = "worse than the best (1 = allowed)", .unit = Unit::kNone}};
  constexpr double kShownAtMost = 20;
  Series worse{.name = "worse than the best", .mark = Mark::kLine};
  for (const EnergyReport::Mode& mode : report.by_lag) {
    worse.x.push_back(mode.lag_ns);
    worse.y.push_back(std::min(mode.worse, kShownAtMost));
  }
  chart.series.push_back(std::move(worse));
  chart.guides = {{Guide::Across::kY, 1, "allowed"}};
  return chart;
}

// SSE next to SSP for all kernels, and their components.
void add_settled_charts(const PowerReport& report, Section& section) {
  for (Chart chart : {settled_chart(report), components_chart(report)}) {
    if (!chart.categories.empty()) section.blocks.push_back(std::move(chart));
  }
}

void add_comparison_chart(const PowerReport& report, Section& section) {
  if (report.comparisons.empty()) return;
  Chart chart{.key = "comparisons_chart",
              .title = "The same kernel under two conditions (FinGraV, Figures 5 and 9)",
              .caption =
                  "Power relative to the first condition; whiskers: 95 % interval. A difference is "
                  "significant if its interval excludes 0.",
              .x = {.title = "kernel", .unit = Unit::kText},
              .y = {.title = "change of power", .unit = Unit::kShare},
              .guides = {{Guide::Across::kY, 0, "no change"}}};
  Series change{.name = "change", .mark = Mark::kBars};
  for (const ProfileComparison& one : report.comparisons) {
    const std::string conditions = fmt::format("{} against {}", one.other, one.base);
    chart.categories.push_back(of_one_kernel(report.comparisons)
                                   ? conditions
                                   : fmt::format("{}: {}", one.name, conditions));
    change.y.push_back(one.relative);
    change.low.push_back(one.relative_low);
    change.high.push_back(one.relative_high);
  }
  chart.horizontal = true;
  chart.series.push_back(std::move(change));
  section.blocks.push_back(std::move(chart));
}

}  // namespace

void add_energy_charts(const EnergyReport& report, Section& section) {
  if (!report.fit.empty()) section.blocks.push_back(fit_chart(report));
  if (report.by_lag.size() > 2) section.blocks.push_back(offset_chart(report));
}

void add_across_charts(const PowerReport& report, Section& section) {
  add_settled_charts(report, section);
  add_comparison_chart(report, section);
}

void add_power_charts(const PowerReport& report, Section& section) {
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    Chart chart = profile_chart(report.kernels[i], i);
    if (!chart.series.empty()) section.blocks.push_back(std::move(chart));
  }
  add_settled_charts(report, section);
  for (size_t i = 0; i < report.contrasts.size(); ++i) {
    section.blocks.push_back(contrast_chart(report.contrasts[i], i));
  }
  add_comparison_chart(report, section);
}

}  // namespace assay
