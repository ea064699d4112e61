// SKIP's figures over a sweep of batch sizes, one series per platform.

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "report/launch/charts.h"
#include "text/units.h"

namespace assay {
namespace {

template <typename Of>
Chart sweep_chart(const std::vector<PlatformBound>& platforms, Chart chart, const Of& of) {
  chart.x = {"batch size", Unit::kNone, true};
  for (const PlatformBound& platform : platforms) {
    Series series{.name = platform.name, .mark = Mark::kLine};
    bool any = false;
    for (const BoundPoint& point : platform.report.points) {
      const std::optional<double> y = of(point);
      series.x.push_back(point.batch);
      series.y.push_back(y.value_or(std::nan("")));
      any = any || y;
    }
    if (any) chart.series.push_back(std::move(series));
  }
  return chart;
}

void add_knees(const std::vector<PlatformBound>& platforms, Chart& chart) {
  for (const PlatformBound& platform : platforms) {
    const BoundReport& r = platform.report;
    if (!std::isfinite(r.inflection_batch)) continue;
    std::string label = "knee b* " + number_text(r.inflection_batch) + " (" +
                        number_text(r.low_batch) + " to " + number_text(r.high_batch) + ")";
    if (platforms.size() > 1) label = platform.name + ": " + label;
    chart.guides.push_back({Guide::Across::kX, r.inflection_batch, std::move(label)});
  }
}

void add_plateaus(const std::vector<PlatformBound>& platforms, Chart& chart) {
  for (const PlatformBound& platform : platforms) {
    const BoundReport& r = platform.report;
    if (!std::isfinite(r.plateau_ns)) continue;
    const std::string who = platforms.size() > 1 ? platform.name + ": " : "";
    chart.guides.push_back({Guide::Across::kY, r.plateau_ns, who + "plateau c"});
    chart.guides.push_back({Guide::Across::kY, r.tau * r.plateau_ns,
                            who + "GPU-bound above " + number_text(r.tau) + " c"});
  }
}

}  // namespace

Section bound_charts_section(const std::vector<PlatformBound>& platforms) {
  Section section{.key = "", .title = "The sweep in figures"};
  const auto add = [&section](Chart chart) {
    if (!chart.series.empty()) section.blocks.emplace_back(std::move(chart));
  };
  Chart tklqt =
      sweep_chart(platforms,
                  {.key = "tklqt_by_batch",
                   .title = "Launch and queue time by batch size (SKIP, Figure 6)",
                   .caption = "Flat while the host is the bottleneck; above the knee, kernels "
                              "queue.",
                   .y = {"TKLQT", Unit::kNanoseconds, true}},
                  [](const BoundPoint& p) { return std::optional(p.tklqt_ns); });
  add_knees(platforms, tklqt);
  add(std::move(tklqt));
  Chart per_launch = sweep_chart(platforms,
                                 {.key = "tklqt_per_launch_by_batch",
                                  .title = "Launch and queue time per launch, and what decides",
                                  .y = {"TKLQT per launch", Unit::kNanoseconds, true}},
                                 [](const BoundPoint& p) { return std::optional(p.q_ns); });
  add_plateaus(platforms, per_launch);
  add_knees(platforms, per_launch);
  add(std::move(per_launch));
  add(sweep_chart(platforms,
                  {.key = "latency_by_batch",
                   .title = "Inference latency by batch size (SKIP, Figures 10a and 11a)",
                   .y = {"latency", Unit::kNanoseconds, true}},
                  [](const BoundPoint& p) { return p.latency_ns; }));
  const auto idle = [&](const char* who, const char* figures, const char* key,
                        std::optional<double> BoundPoint::*share) {
    add(sweep_chart(
        platforms,
        {.key = std::string(key) + "_idle_by_batch",
         .title = std::string(who) + " idle by batch size (SKIP, Figures " + figures + ")",
         .y = {"idle", Unit::kNanoseconds}},
        [share](const BoundPoint& p) -> std::optional<double> {
          if (!(p.*share) || !p.latency_ns) return std::nullopt;
          return *(p.*share) * *p.latency_ns;
        }));
    add(sweep_chart(platforms,
                    {.key = std::string(key) + "_idle_share_by_batch",
                     .title = std::string(who) + " idle by batch size, share of the latency",
                     .y = {"of the latency", Unit::kShare}},
                    [share](const BoundPoint& p) { return p.*share; }));
  };
  idle("GPU", "10b and 11b", "gpu", &BoundPoint::gpu_idle_share);
  idle("CPU", "10c and 11c", "cpu", &BoundPoint::cpu_idle_share);
  return section;
}

}  // namespace assay
