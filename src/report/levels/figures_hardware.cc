#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "report/document/units.h"
#include "report/levels/figures_parts.h"

namespace assay::levels_figures {

// ---- Figures 13 and 14 ----

void add_cores(const Configs& configs, Section& section) {
  struct Cores {
    const ConfigFigures& config;
    double active;  // medians
    double needed;
  };
  struct Moment {
    const ConfigFigures& config;
    const FigureCores& is;
  };
  std::vector<Cores> all_cores;
  std::vector<Moment> all_moments;
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
      all_moments.push_back({config, at});
      for (Series* series : {&active, &least, &single, &both})
        series->x.push_back(static_cast<double>(at.t_ns));
      active.y.push_back(at.active);
      least.y.push_back(at.least);
      single.y.push_back(at.one_sibling);
      both.y.push_back(at.siblings);
    }
    all_cores.push_back(
        {config, figure_box(std::move(all)).median, figure_box(std::move(needed)).median});
    chart.series = {std::move(active), std::move(least), std::move(single), std::move(both)};
    charts.push_back(std::move(chart));
  }
  TableOf table(all_cores, {.key = "cores",
                            .title = "Cores (Chopper, Figure 13)",
                            .terminal_limit = 0,
                            .show = shown_if(!all_cores.empty())});
  table.add(keys::config, [](const Cores& c) { return c.config.name; })
      .add(keys::samples, [](const Cores& c) { return c.config.cores.size(); })
      .add(keys::active_median, &Cores::active)
      .add(keys::min_cores_median, &Cores::needed)
      .add(keys::cores_used_share, [](const Cores& c) { return c.config.cores_used_share; });
  TableOf moments(all_moments, {.key = "core_moments", .show = Show::kDataOnly});
  moments.add(keys::config, [](const Moment& m) { return m.config.name; })
      .add(keys::t_ns, [](const Moment& m) { return m.is.t_ns; })
      .add(keys::active, [](const Moment& m) { return m.is.active; })
      .add(keys::min_cores, [](const Moment& m) { return m.is.least; })
      .add(keys::one_sibling, [](const Moment& m) { return m.is.one_sibling; })
      .add(keys::siblings, [](const Moment& m) { return m.is.siblings; });
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
  struct Track {
    const ConfigFigures& config;
    std::string signal;
    size_t samples;
    double mean;
    double min;
    double max;
  };
  struct Moment {
    const ConfigFigures& config;
    const FigureMoment& is;
  };
  std::vector<Track> tracks;
  std::vector<Moment> all_moments;
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
        all_moments.push_back({config, at});
        series.x.push_back(static_cast<double>(at.t_ns));
        series.y.push_back(at.mean);
        series.low.push_back(at.min);
        series.high.push_back(at.max);
        sum += at.mean;
        least = std::min(least, at.min);
        greatest = std::max(greatest, at.max);
      }
      if (series.y.empty()) continue;
      const size_t samples = series.y.size();
      tracks.push_back(
          {config, signal, samples, sum / static_cast<double>(samples), least, greatest});
      chart.series.push_back(std::move(series));
    }
    charts.push_back(std::move(chart));
  }
  TableOf table(tracks, {.key = "telemetry",
                         .title = "Clocks and power, means over GPUs (Chopper, Figure 14)",
                         .terminal_limit = 0,
                         .show = shown_if(!tracks.empty())});
  table.add(keys::config, [](const Track& t) { return t.config.name; })
      .add(keys::signal, &Track::signal)
      .add(keys::samples, &Track::samples)
      .add(keys::mean, &Track::mean)
      .add(keys::min, &Track::min)
      .add(keys::max, &Track::max);
  TableOf moments(all_moments, {.key = "telemetry_moments", .show = Show::kDataOnly});
  moments.add(keys::config, [](const Moment& m) { return m.config.name; })
      .add(keys::signal, [](const Moment& m) { return m.is.signal; })
      .add(keys::t_ns, [](const Moment& m) { return m.is.t_ns; })
      .add(keys::gpus, [](const Moment& m) { return m.is.gpus; })
      .add(keys::mean, [](const Moment& m) { return m.is.mean; })
      .add(keys::min, [](const Moment& m) { return m.is.min; })
      .add(keys::max, [](const Moment& m) { return m.is.max; });
  section.blocks.push_back(std::move(table));
  section.blocks.push_back(std::move(moments));
  for (Chart& chart : charts) section.blocks.push_back(std::move(chart));
}

// ---- Figure 15 ----

void add_waterfalls(const Configs& configs, Section& section) {
  struct Bar {
    const ConfigFigures& config;
    const FigureOpName& name;
    uint64_t executions;
    std::string bar;
    int64_t ns;
  };
  std::vector<Bar> bars;
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
        const auto& [title, ns] = one.bars_ns[bar];
        bars.push_back({config, one.name, one.executions, title, ns});
        chart.series[bar].y.push_back(static_cast<double>(ns));
      }
    }
    charts.push_back(std::move(chart));
  }
  TableOf table(bars, {.key = "waterfall",
                       .title = "From peak to measured time (Chopper, Figure 15)",
                       .terminal_limit = 40,
                       .show = shown_if(!bars.empty())});
  add_op_columns(table);
  table.add(keys::executions, &Bar::executions)
      .add(keys::bar, &Bar::bar)
      .add(keys::time_ns, &Bar::ns);
  section.blocks.push_back(std::move(table));
  for (Chart& chart : charts) section.blocks.push_back(std::move(chart));
}

}  // namespace assay::levels_figures
