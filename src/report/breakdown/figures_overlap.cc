#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "report/breakdown/figures_parts.h"
#include "text/units.h"

namespace assay::breakdown_figures {
namespace {

// ---- Figures 7 and 9 ----

Table correlation_table(const Configs& configs) {
  using Op = OfConfig<FigureOp>;
  std::vector<std::pair<double, Op>> weighed;
  size_t overlapped = 0;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) {
      overlapped += op.overlap_ratio > 0 ? 1 : 0;
      weighed.push_back({op.overlap_ratio * op.dur_ns.median, {config, op.name, op}});
    }
  }
  std::vector<size_t> order(weighed.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weighed[a].first > weighed[b].first; });
  std::vector<Op> ops;
  for (const size_t i : order) ops.push_back(weighed[i].second);
  TableOf table(ops, {.key = "overlap",
                      .title = "Overlap with collectives, and how it goes with duration "
                               "(Chopper, Figure 7)",
                      .terminal_limit = std::clamp<size_t>(overlapped, 1, 30),
                      .show = shown_if(overlapped > 0)});
  add_op_columns(table);
  table.add(keys::executions, [](const Op& op) { return op.is.executions; })
      .add(keys::overlap_ratio, [](const Op& op) { return op.is.overlap_ratio; })
      .add(keys::correlation, [](const Op& op) { return op.is.correlation; });
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

// The longest operations of a phase and type; those in layers come first.
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
  using Layer = OfConfig<FigureLayer>;
  std::vector<Layer> layers;
  for (const ConfigFigures* config : configs) {
    for (const FigureLayer& one : config->layers) {
      if (ops.count(one.name) > 0) layers.push_back({*config, one.name, one});
    }
  }
  const auto overlap = [](double FigureBox::*field) {
    return [field](const Layer& l) { return l.is.overlap_ratio.*field; };
  };
  const auto dur = [](double FigureBox::*field) {
    return [field](const Layer& l) { return whole_ns(l.is.dur_ns.*field); };
  };
  TableOf table(layers, {.key = "overlap_by_layer",
                         .title = "Overlap and duration across GPUs, by iteration and layer "
                                  "(Chopper, Figures 7 and 9)",
                         .show = Show::kDataOnly});
  add_op_columns(table);
  table.add(keys::iter, [](const Layer& l) { return l.is.iter; })
      .add(keys::layer,
           [](const Layer& l) { return l.is.layer == kNoLayer ? Value() : Value(l.is.layer); })
      .add(keys::gpus, [](const Layer& l) { return l.is.dur_ns.samples; })
      .add(keys::overlap_min, overlap(&FigureBox::min))
      .add(keys::overlap_p25, overlap(&FigureBox::p25))
      .add(keys::overlap_median, overlap(&FigureBox::median))
      .add(keys::overlap_p75, overlap(&FigureBox::p75))
      .add(keys::overlap_max, overlap(&FigureBox::max))
      .add(keys::dur_min_ns, dur(&FigureBox::min))
      .add(keys::dur_p25_ns, dur(&FigureBox::p25))
      .add(keys::dur_median_ns, dur(&FigureBox::median))
      .add(keys::dur_p75_ns, dur(&FigureBox::p75))
      .add(keys::dur_max_ns, dur(&FigureBox::max));
  return table;
}

// Position of (iteration, layer) on the axis: layers in order, iterations one after the other.
struct LayerAxis {
  std::map<std::pair<size_t, int32_t>, double> at;  // by (index of the iteration, layer)

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
              .y = {overlap ? "during collectives" : "duration",
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
  using Execution = OfConfig<FigureExecution>;
  std::vector<Execution> executions;
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
      executions.push_back({*config, one.name, one});
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
  const auto of = [](auto FigureExecution::*field) {
    return [field](const Execution& e) { return e.is.*field; };
  };
  TableOf table(executions, {.key = "overlap_curve",
                             .title = "Overlap against duration, one execution a row (Chopper, "
                                      "Figure 8)",
                             .show = Show::kDataOnly});
  add_op_columns(table);
  table.add(keys::gpu, of(&FigureExecution::gpu))
      .add(keys::iter, of(&FigureExecution::iter))
      .add(keys::layer, of(&FigureExecution::layer))
      .add(keys::overlap_ratio, of(&FigureExecution::overlap_ratio))
      .add(keys::dur_ns, [](const Execution& e) { return whole_ns(e.is.dur_ns); })
      .add(keys::relative, of(&FigureExecution::relative))
      .add(keys::cumulative, of(&FigureExecution::cumulative));
  section.blocks.push_back(std::move(table));
  for (Chart& chart : charts) section.blocks.push_back(std::move(chart));
}

}  // namespace assay::breakdown_figures
