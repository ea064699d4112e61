#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "report/document/units.h"
#include "report/levels/figures_parts.h"

namespace assay::levels_figures {
namespace {

// ---- Figures 7 and 9 ----

Table correlation_table(const Configs& configs) {
  Table table{
      .key = "overlap",
      .title = "Overlap with collectives, and how it goes with duration (Chopper, Figure 7)",
      .columns = op_columns(),
      .terminal_limit = 30};
  append(table.columns, {{.key = "executions", .title = "executions", .unit = Unit::kCount},
                         {.key = "overlap_ratio", .title = "overlap", .unit = Unit::kShare},
                         {.key = "correlation", .title = "correlation", .unit = Unit::kRatio}});
  std::vector<std::pair<double, Row>> rows;
  size_t overlapped = 0;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) {
      overlapped += op.overlap_ratio > 0 ? 1 : 0;
      Row row = op_cells(config, op.name);
      append(row, {op.executions, op.overlap_ratio, op.correlation});
      rows.emplace_back(op.overlap_ratio * op.dur_ns.median, std::move(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [weight, row] : rows) table.rows.push_back(std::move(row));
  table.terminal_limit = std::clamp<size_t>(overlapped, 1, 30);
  if (overlapped == 0) table.show = Show::kDataOnly;
  return table;
}

std::vector<const ConfigFigures*> detailed(const Configs& configs, const FiguresView& view) {
  std::vector<const ConfigFigures*> some;
  for (const ConfigFigures& config : configs) {
    const bool named =
        std::find(view.detail.begin(), view.detail.end(), config.name) != view.detail.end();
    if (view.detail.empty() || named) some.push_back(&config);
  }
  return some;
}

bool lies_in_layers(const Configs& configs, const FigureOpName& op) {
  return std::any_of(configs.begin(), configs.end(), [&op](const ConfigFigures& config) {
    return std::any_of(config.layers.begin(), config.layers.end(), [&op](const FigureLayer& one) {
      return one.layer != kNoLayer && one.name == op;
    });
  });
}

// The longest operations of a phase and type, those in layers before others.
std::vector<FigureOpName> layered_ops(const Configs& configs, LevelPhase phase, OpType type,
                                      size_t most) {
  std::vector<FigureOpName> ops =
      dominant_ops(configs, phase, type, std::numeric_limits<size_t>::max());
  std::stable_partition(ops.begin(), ops.end(),
                        [&configs](const FigureOpName& op) { return lies_in_layers(configs, op); });
  ops.resize(std::min(ops.size(), most));
  return ops;
}

std::vector<FigureOpName> overlap_ops(const Configs& configs, size_t top) {
  std::vector<FigureOpName> ops;
  for (const LevelPhase phase : phases_of(configs)) {
    if (phase == LevelPhase::kOptimizer || phase == LevelPhase::kNone) continue;
    for (const OpType type : {OpType::kVector, OpType::kGemm}) {
      for (FigureOpName& op : layered_ops(configs, phase, type, top)) ops.push_back(std::move(op));
    }
  }
  return ops;
}

std::vector<FigureOpName> attention_ops(const Configs& configs) {
  std::vector<FigureOpName> ops;
  for (const LevelPhase phase : phases_of(configs)) {
    if (phase == LevelPhase::kBackward || phase == LevelPhase::kRecompute) continue;
    for (FigureOpName& op : dominant_ops(configs, phase, OpType::kAttention, 1))
      ops.push_back(std::move(op));
  }
  return ops;
}

Table layers_table(const std::vector<const ConfigFigures*>& configs,
                   const std::set<FigureOpName>& ops) {
  Table table{.key = "overlap_by_layer",
              .title =
                  "Overlap and duration across GPUs, by iteration and layer (Chopper, Figures "
                  "7 and 9)",
              .columns = op_columns(),
              .show = Show::kDataOnly};
  append(table.columns, {{.key = "iter", .title = "iter"},
                         {.key = "layer", .title = "layer"},
                         {.key = "gpus", .title = "GPUs", .unit = Unit::kCount}});
  for (const char* of : {"overlap", "dur"}) {
    const bool share = std::string_view(of) == "overlap";
    for (const char* stat : {"min", "p25", "median", "p75", "max"}) {
      table.columns.push_back({.key = fmt::format("{}_{}{}", of, stat, share ? "" : "_ns"),
                               .title = fmt::format("{} {}", of, stat),
                               .unit = share ? Unit::kShare : Unit::kNanoseconds});
    }
  }
  for (const ConfigFigures* config : configs) {
    for (const FigureLayer& one : config->layers) {
      if (ops.count(one.name) == 0) continue;
      Row row = op_cells(*config, one.name);
      const FigureBox& overlap = one.overlap_ratio;
      const FigureBox& dur = one.dur_ns;
      append(row,
             {one.iter, one.layer == kNoLayer ? Value() : Value(one.layer), dur.samples,
              overlap.min, overlap.p25, overlap.median, overlap.p75, overlap.max, whole_ns(dur.min),
              whole_ns(dur.p25), whole_ns(dur.median), whole_ns(dur.p75), whole_ns(dur.max)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// Where a (iteration, layer) stands on the axis: layers in order, iterations one after the other.
struct LayerAxis {
  std::map<std::pair<size_t, int32_t>, double> at;  // place of the iteration, layer

  LayerAxis(const std::vector<const ConfigFigures*>& configs, const FigureOpName& op) {
    for (const ConfigFigures* config : configs) {
      for (const FigureLayer& one : config->layers) {
        if (one.name == op) at.emplace(std::pair(place(*config, one.iter), one.layer), 0);
      }
    }
    double next = 0;
    for (auto& [key, x] : at) x = next++;
  }
  static size_t place(const ConfigFigures& config, int32_t iter) {
    return static_cast<size_t>(std::find(config.iterations.begin(), config.iterations.end(), iter) -
                               config.iterations.begin());
  }
};

Chart layer_chart(const std::vector<const ConfigFigures*>& configs, const FigureOpName& op,
                  int figure, bool overlap) {
  const LayerAxis axis(configs, op);
  Chart chart{.key = fmt::format("{}_{}_{}", overlap ? "overlap" : "duration",
                                 level_phase_name(op.phase), op.op),
              .title = fmt::format("{} of {} (Chopper, Figure {})",
                                   overlap ? "Overlap ratio" : "Duration", name_of(op), figure),
              .caption = fmt::format("Medians across GPUs, bands from the {}",
                                     overlap ? "least to the greatest; the inner band from the "
                                               "25th to the 75th percentile"
                                             : "25th to the 75th percentile"),
              .x = {"layer, iteration after iteration", Unit::kNone},
              .y = {overlap ? "beside collectives" : "duration",
                    overlap ? Unit::kShare : Unit::kNanoseconds}};
  for (const ConfigFigures* config : configs) {
    Series quartiles{.name = config->name};
    Series whole{.name = config->name + ", least to greatest"};
    for (const FigureLayer& one : config->layers) {
      if (!(one.name == op)) continue;
      const FigureBox& box = overlap ? one.overlap_ratio : one.dur_ns;
      const double x = axis.at.at({LayerAxis::place(*config, one.iter), one.layer});
      for (Series* series : {&quartiles, &whole}) {
        series->x.push_back(x);
        series->y.push_back(box.median);
        series->labels.push_back(fmt::format("iteration {}, layer {}", one.iter, one.layer));
      }
      quartiles.low.push_back(box.p25);
      quartiles.high.push_back(box.p75);
      whole.low.push_back(box.min);
      whole.high.push_back(box.max);
    }
    if (quartiles.y.empty()) continue;
    if (overlap) chart.series.push_back(std::move(whole));
    chart.series.push_back(std::move(quartiles));
  }
  return chart;
}

}  // namespace

void add_overlap(const Configs& configs, const FiguresView& view, Section& section) {
  section.blocks.push_back(correlation_table(configs));
  const std::vector<FigureOpName> ops = overlap_ops(configs, view.top);
  const std::vector<FigureOpName> attention = attention_ops(configs);
  std::set<FigureOpName> all(ops.begin(), ops.end());
  all.insert(attention.begin(), attention.end());
  const std::vector<const ConfigFigures*> shown = detailed(configs, view);
  section.blocks.push_back(layers_table(shown, all));
  for (const bool overlap : {true, false}) {
    for (const FigureOpName& op : ops) section.blocks.push_back(layer_chart(shown, op, 7, overlap));
    for (const FigureOpName& op : attention)
      section.blocks.push_back(layer_chart(shown, op, 9, overlap));
  }
}

// ---- Figure 8 ----

void add_curve(const Configs& configs, const FiguresView& view, Section& section) {
  const std::optional<FigureOpName> op = curve_op(configs);
  Table table{.key = "overlap_curve",
              .title = "Overlap against duration, one execution a row (Chopper, Figure 8)",
              .columns = op_columns(),
              .show = Show::kDataOnly};
  append(table.columns, {{.key = "gpu", .title = "gpu"},
                         {.key = "iter", .title = "iter"},
                         {.key = "layer", .title = "layer"},
                         {.key = "overlap_ratio", .title = "overlap", .unit = Unit::kShare},
                         {.key = "dur_ns", .title = "duration", .unit = Unit::kNanoseconds},
                         {.key = "relative", .title = "of the least", .unit = Unit::kRatio},
                         {.key = "cumulative", .title = "cumulative", .unit = Unit::kShare}});
  std::vector<Chart> charts;
  for (const ConfigFigures* config : detailed(configs, view)) {
    if (!op) break;
    Chart chart{.key = "curve_" + config->name,
                .title = fmt::format("Cumulative overlap of {}, {} (Chopper, Figure 8)",
                                     name_of(*op), config->name),
                .caption = "Sum of overlap ratios of executions up to a duration, of their sum",
                .x = {"duration over the least of the GPU", Unit::kRatio},
                .y = {"cumulative overlap", Unit::kShare}};
    for (const FigureExecution& one : config->executions) {
      if (!(one.name == *op)) continue;
      Row row = op_cells(*config, one.name);
      append(row, {one.gpu, one.iter, one.layer, one.overlap_ratio, whole_ns(one.dur_ns),
                   one.relative, one.cumulative});
      table.rows.push_back(std::move(row));
      const std::string name = fmt::format("GPU {}", one.gpu);
      if (chart.series.empty() || chart.series.back().name != name)
        chart.series.push_back({.name = name, .mark = Mark::kSteps});
      Series& series = chart.series.back();
      series.x.push_back(one.relative);
      series.y.push_back(one.cumulative);
      series.labels.push_back(fmt::format("iteration {}, layer {}: overlap {}", one.iter, one.layer,
                                          format_share(one.overlap_ratio)));
    }
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  section.blocks.push_back(std::move(table));
  for (Chart& chart : charts) section.blocks.push_back(std::move(chart));
}

}  // namespace assay::levels_figures
