#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "report/document/units.h"
#include "report/levels/figures_parts.h"

namespace assay::levels_figures {

// ---- Figures 13 and 14 ----

void add_cores(const Configs& configs, Section& section) {
  Table table{.key = "cores",
              .title = "Cores (Chopper, Figure 13)",
              .columns = {{.key = "config", .title = "config", .unit = Unit::kText},
                          {.key = "samples", .title = "samples", .unit = Unit::kCount},
                          {.key = "active_median", .title = "active, median", .unit = Unit::kNone},
                          {.key = "min_cores_median",
                           .title = "needed at least, median",
                           .unit = Unit::kRatio},
                          {.key = "cores_used_share",
                           .title = "physical cores ever active",
                           .unit = Unit::kShare}},
              .terminal_limit = 0};
  Table moments{.key = "core_moments",
                .columns = {{.key = "config", .title = "config", .unit = Unit::kText},
                            {.key = "t_ns", .title = "time", .unit = Unit::kNanoseconds},
                            {.key = "active", .title = "active", .unit = Unit::kCount},
                            {.key = "min_cores", .title = "needed", .unit = Unit::kRatio},
                            {.key = "one_sibling", .title = "one sibling", .unit = Unit::kCount},
                            {.key = "siblings", .title = "both", .unit = Unit::kCount}},
                .show = Show::kDataOnly};
  std::vector<Chart> charts;
  for (const ConfigFigures& config : configs) {
    if (config.cores.empty()) continue;
    Chart chart{
        .key = "cores_" + config.name,
        .title = fmt::format("Active and needed cores, {} (Chopper, Figure 13)", config.name),
        .x = {"time", Unit::kNanoseconds},
        .y = {"cores", Unit::kCount}};
    Series active{.name = "active logical (C_active)", .mark = Mark::kSteps};
    Series least{.name = "needed at least (C_min)", .mark = Mark::kSteps};
    Series single{.name = "physical with one active sibling", .mark = Mark::kSteps};
    Series both{.name = "physical with both active", .mark = Mark::kSteps};
    std::vector<double> all;
    std::vector<double> needed;
    for (const FigureCores& at : config.cores) {
      all.push_back(at.active);
      needed.push_back(at.least);
      moments.rows.push_back(
          {config.name, at.t_ns, at.active, at.least, at.one_sibling, at.siblings});
      for (Series* series : {&active, &least, &single, &both})
        series->x.push_back(static_cast<double>(at.t_ns));
      active.y.push_back(at.active);
      least.y.push_back(at.least);
      single.y.push_back(at.one_sibling);
      both.y.push_back(at.siblings);
    }
    table.rows.push_back({config.name, config.cores.size(), figure_box(std::move(all)).median,
                          figure_box(std::move(needed)).median, config.cores_used_share});
    chart.series = {std::move(active), std::move(least), std::move(single), std::move(both)};
    charts.push_back(std::move(chart));
  }
  if (table.rows.empty()) table.show = Show::kDataOnly;
  section.blocks.push_back(std::move(table));
  section.blocks.push_back(std::move(moments));
  for (Chart& chart : charts) section.blocks.push_back(std::move(chart));
}

namespace {

std::vector<std::string> signals_of(const Configs& configs) {
  std::set<std::string> signals;
  for (const ConfigFigures& config : configs) {
    for (const FigureMoment& moment : config.moments) signals.insert(moment.signal);
  }
  return {signals.begin(), signals.end()};
}

}  // namespace

void add_telemetry(const Configs& configs, Section& section) {
  Table table{.key = "telemetry",
              .title = "Clocks and power, means over GPUs (Chopper, Figure 14)",
              .columns = {{.key = "config", .title = "config", .unit = Unit::kText},
                          {.key = "signal", .title = "signal", .unit = Unit::kText},
                          {.key = "samples", .title = "samples", .unit = Unit::kCount},
                          {.key = "mean", .title = "mean", .unit = Unit::kRatio},
                          {.key = "min", .title = "least", .unit = Unit::kRatio},
                          {.key = "max", .title = "greatest", .unit = Unit::kRatio}},
              .terminal_limit = 0};
  Table moments{.key = "telemetry_moments",
                .columns = {{.key = "config", .title = "config", .unit = Unit::kText},
                            {.key = "signal", .title = "signal", .unit = Unit::kText},
                            {.key = "t_ns", .title = "time", .unit = Unit::kNanoseconds},
                            {.key = "gpus", .title = "GPUs", .unit = Unit::kCount},
                            {.key = "mean", .title = "mean", .unit = Unit::kRatio},
                            {.key = "min", .title = "least", .unit = Unit::kRatio},
                            {.key = "max", .title = "greatest", .unit = Unit::kRatio}},
                .show = Show::kDataOnly};
  std::vector<Chart> charts;
  for (const std::string& signal : signals_of(configs)) {
    Chart chart{.key = signal,
                .title = fmt::format("{} over time (Chopper, Figure 14)", signal),
                .caption = "Means over GPUs, bands from the least to the greatest GPU",
                .x = {"time", Unit::kNanoseconds},
                .y = {signal, Unit::kRatio}};
    for (const ConfigFigures& config : configs) {
      Series series{.name = config.name};
      double sum = 0;
      double least = std::numeric_limits<double>::infinity();
      double greatest = -least;
      for (const FigureMoment& at : config.moments) {
        if (at.signal != signal) continue;
        moments.rows.push_back({config.name, signal, at.t_ns, at.gpus, at.mean, at.min, at.max});
        series.x.push_back(static_cast<double>(at.t_ns));
        series.y.push_back(at.mean);
        series.low.push_back(at.min);
        series.high.push_back(at.max);
        sum += at.mean;
        least = std::min(least, at.min);
        greatest = std::max(greatest, at.max);
      }
      if (series.y.empty()) continue;
      table.rows.push_back({config.name, signal, series.y.size(),
                            sum / static_cast<double>(series.y.size()), least, greatest});
      chart.series.push_back(std::move(series));
    }
    charts.push_back(std::move(chart));
  }
  if (table.rows.empty()) table.show = Show::kDataOnly;
  section.blocks.push_back(std::move(table));
  section.blocks.push_back(std::move(moments));
  for (Chart& chart : charts) section.blocks.push_back(std::move(chart));
}

// ---- Figure 15 ----

void add_waterfalls(const Configs& configs, Section& section) {
  Table table{.key = "waterfall",
              .title = "From peak to measured time (Chopper, Figure 15)",
              .columns = op_columns(),
              .terminal_limit = 40};
  append(table.columns, {{.key = "executions", .title = "executions", .unit = Unit::kCount},
                         {.key = "bar", .title = "bar", .unit = Unit::kText},
                         {.key = "time_ns", .title = "time", .unit = Unit::kNanoseconds}});
  std::vector<Chart> charts;
  for (const ConfigFigures& config : configs) {
    if (config.waterfalls.empty()) continue;
    Chart chart{
        .key = "waterfall_" + config.name,
        .title = fmt::format("From peak to measured time, {} (Chopper, Figure 15)", config.name),
        .y = {"sum over executions", Unit::kNanoseconds},
        .horizontal = true};
    for (const auto& [name, ns] : config.waterfalls.front().bars_ns)
      chart.series.push_back({.name = name, .mark = Mark::kStackedBars});
    for (const FigureWaterfall& one : config.waterfalls) {
      chart.categories.push_back(name_of(one.name));
      for (size_t bar = 0; bar < one.bars_ns.size(); ++bar) {
        Row row = op_cells(config, one.name);
        append(row, {one.executions, one.bars_ns[bar].first, one.bars_ns[bar].second});
        table.rows.push_back(std::move(row));
        chart.series[bar].y.push_back(static_cast<double>(one.bars_ns[bar].second));
      }
    }
    charts.push_back(std::move(chart));
  }
  if (table.rows.empty()) table.show = Show::kDataOnly;
  section.blocks.push_back(std::move(table));
  for (Chart& chart : charts) section.blocks.push_back(std::move(chart));
}

}  // namespace assay::levels_figures
