#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "report/breakdown/figures_parts.h"
#include "text/units.h"

namespace assay::breakdown_figures {

// ---- Figures 13 and 14 ----

namespace {

using CoreCount = double (*)(const FigureCores&);

double active_cores(const FigureCores& at) { return at.active; }
double needed_cores(const FigureCores& at) { return at.least; }

Chart moments_of_cores(const ConfigFigures& config) {
  Chart chart{.key = "cores_" + config.name,
              .title = fmt::format("Active and needed cores, {} (Chopper, Figure 13)", config.name),
              .x = {"time", Unit::kNanoseconds},
              .y = {"cores", Unit::kCount}};
  const std::pair<const char*, CoreCount> lines[] = {
      {"active logical (C_active)", active_cores},
      {"needed at least (C_min)", needed_cores},
      {"physical with one active sibling",
       [](const FigureCores& at) -> double { return at.one_sibling; }},
      {"physical with both active", [](const FigureCores& at) -> double { return at.siblings; }}};
  for (const auto& [name, value] : lines) {
    Series series{.name = name, .mark = Mark::kSteps};
    for (const FigureCores& at : config.cores) {
      series.x.push_back(static_cast<double>(at.t_ns));
      series.y.push_back(value(at));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

double median_of(const std::vector<FigureCores>& cores, CoreCount value) {
  std::vector<double> all;
  for (const FigureCores& at : cores) all.push_back(value(at));
  return figure_box(std::move(all)).median;
}

}  // namespace

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
    for (const FigureCores& at : config.cores) all_moments.push_back({config, at});
    all_cores.push_back(
        {config, median_of(config.cores, active_cores), median_of(config.cores, needed_cores)});
    charts.push_back(moments_of_cores(config));
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

struct SignalTrack {
  const ConfigFigures& config;
  std::string signal;
  size_t samples;
  double mean;
  double min;
  double max;
};

struct SignalMoment {
  const ConfigFigures& config;
  const FigureMoment& is;
};

void add_tables(const std::vector<SignalTrack>& tracks,
                const std::vector<SignalMoment>& all_moments, Section& section) {
  TableOf table(tracks, {.key = "telemetry",
                         .title = "Clocks and power, means over GPUs (Chopper, Figure 14)",
                         .terminal_limit = 0,
                         .show = shown_if(!tracks.empty())});
  table.add(keys::config, [](const SignalTrack& t) { return t.config.name; })
      .add(keys::signal, &SignalTrack::signal)
      .add(keys::samples, &SignalTrack::samples)
      .add(keys::mean, &SignalTrack::mean)
      .add(keys::min, &SignalTrack::min)
      .add(keys::max, &SignalTrack::max);
  TableOf moments(all_moments, {.key = "telemetry_moments", .show = Show::kDataOnly});
  moments.add(keys::config, [](const SignalMoment& m) { return m.config.name; })
      .add(keys::signal, [](const SignalMoment& m) { return m.is.signal; })
      .add(keys::t_ns, [](const SignalMoment& m) { return m.is.t_ns; })
      .add(keys::gpus, [](const SignalMoment& m) { return m.is.gpus; })
      .add(keys::mean, [](const SignalMoment& m) { return m.is.mean; })
      .add(keys::min, [](const SignalMoment& m) { return m.is.min; })
      .add(keys::max, [](const SignalMoment& m) { return m.is.max; });
  section.blocks.push_back(std::move(table));
  section.blocks.push_back(std::move(moments));
}

}  // namespace

void add_telemetry(const Configs& configs, Section& section) {
  std::vector<SignalTrack> tracks;
  std::vector<SignalMoment> all_moments;
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
  add_tables(tracks, all_moments, section);
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

}  // namespace assay::breakdown_figures
