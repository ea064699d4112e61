// SKIP's figures on kernel chains.

#include <cmath>
#include <string>
#include <utility>

#include "text/units.h"
#include "report/launch/charts.h"

namespace assay {
namespace {

template <typename Of>
Series by_length(const FusionReport& report, std::string name, Mark mark, const Of& of) {
  Series series{.name = std::move(name), .mark = mark};
  for (const ChainRow& row : report.chains) series.y.push_back(static_cast<double>(of(row)));
  return series;
}

Chart chart_by_length(const FusionReport& report, Chart chart) {
  chart.x = {"chain length L", Unit::kNone};
  for (const ChainRow& row : report.chains) chart.categories.push_back(std::to_string(row.length));
  return chart;
}

std::string ends_of(const RecommendedChain& chain) {
  if (chain.short_kernels.empty()) return "";
  std::string text = chain.short_kernels.front();
  if (chain.short_kernels.size() > 1) text += " … " + chain.short_kernels.back();
  return std::to_string(chain.length) + " kernels, " +
         format_count(static_cast<int64_t>(chain.count)) + " times: " + text;
}

Chart saved_chart(const FusionReport& report) {
  Chart chart{.key = "chain_prices",
              .title = "Recommended chains: launches saved",
              .y = {"launches", Unit::kCount},
              .horizontal = true};
  Series series{.mark = Mark::kBars};
  for (const RecommendedChain& chain : report.recommended) {
    chart.categories.push_back(ends_of(chain));
    series.y.push_back(static_cast<double>(chain.launches_saved));
  }
  chart.series = {std::move(series)};
  return chart;
}

}  // namespace

std::vector<Block> fusion_charts(const FusionReport& report) {
  if (report.k_eager == 0 || report.chains.empty()) return {};
  std::vector<Block> charts;
  if (!report.recommended.empty()) charts.emplace_back(saved_chart(report));
  Chart speedup =
      chart_by_length(report, {.key = "speedup_by_length",
                               .title = "Ideal speedup by chain length (SKIP, Figure 8)",
                               .caption = "Launches only, each of equal cost.",
                               .y = {"speedup", Unit::kRatio}});
  speedup.series = {
      by_length(report, "all chains", Mark::kBars, [](const ChainRow& r) { return r.speedup; }),
      by_length(report, "first kernel seen twice or more", Mark::kBars,
                [](const ChainRow& r) { return r.speedup_min2; })};
  charts.emplace_back(std::move(speedup));
  Chart windows =
      chart_by_length(report, {.key = "chains_by_length",
                               .title = "Chains by length, distinct and all (SKIP, Figures 7a, 7b)",
                               .y = {"chains", Unit::kCount}});
  windows.series = {
      by_length(report, "distinct", Mark::kBars, [](const ChainRow& r) { return r.unique; }),
      by_length(report, "all", Mark::kBars, [](const ChainRow& r) { return r.total; })};
  charts.emplace_back(std::move(windows));
  Chart fused = chart_by_length(
      report, {.key = "fused_by_length",
               .title = "Chains fused with PS = 1, and the launches left (SKIP, Figures 7c, 7d)",
               .y = {"count", Unit::kCount}});
  fused.series = {
      by_length(report, "chains fused", Mark::kBars, [](const ChainRow& r) { return r.c_fused; }),
      by_length(report, "launches, eager", Mark::kBars,
                [](const ChainRow& r) { return r.k_eager; }),
      by_length(report, "launches, fused", Mark::kBars,
                [](const ChainRow& r) { return r.k_fused; })};
  charts.emplace_back(std::move(fused));
  return charts;
}

}  // namespace assay
