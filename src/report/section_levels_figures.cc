#include "report/section_levels_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/units.h"

namespace assay {
namespace {

using Configs = std::vector<ConfigFigures>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kOpsInCharts = 12;

double ratio(double value, double to) { return to > 0 ? value / to : kNaN; }

std::string name_of(const FigureOpName& op) {
  const bool told = op.op.rfind("b_", 0) == 0 || op.phase == LevelPhase::kForward;
  return told ? op.op : fmt::format("{} ({})", op.op, level_phase_name(op.phase));
}

std::vector<Column> op_columns() {
  return {{.key = "config", .title = "config", .unit = Unit::kText},
          {.key = "phase", .title = "phase", .unit = Unit::kText},
          {.key = "op", .title = "op", .unit = Unit::kText, .elastic = true},
          {.key = "op_type", .title = "type", .unit = Unit::kText}};
}

Row op_cells(const ConfigFigures& config, const FigureOpName& op) {
  return {config.name, level_phase_name(op.phase), op.op, op_type_name(op.type)};
}

void append(Row& row, Row values) {
  for (Value& value : values) row.push_back(std::move(value));
}

void append(std::vector<Column>& columns, std::vector<Column> more) {
  for (Column& column : more) columns.push_back(std::move(column));
}

std::vector<Column> box_columns() {
  return {{.key = "samples", .title = "samples", .unit = Unit::kCount},
          {.key = "min_ns", .title = "min", .unit = Unit::kNanoseconds},
          {.key = "p25_ns", .title = "p25", .unit = Unit::kNanoseconds, .show = Show::kDataOnly},
          {.key = "median_ns", .title = "median", .unit = Unit::kNanoseconds},
          {.key = "p75_ns", .title = "p75", .unit = Unit::kNanoseconds, .show = Show::kDataOnly},
          {.key = "max_ns", .title = "max", .unit = Unit::kNanoseconds}};
}

Row box_cells(const FigureBox& box) {
  return {box.samples,          whole_ns(box.min), whole_ns(box.p25),
          whole_ns(box.median), whole_ns(box.p75), whole_ns(box.max)};
}

std::vector<std::string> names_of(const Configs& configs) {
  std::vector<std::string> names;
  for (const ConfigFigures& config : configs) names.push_back(config.name);
  return names;
}

// Medians with whiskers from the least to the greatest.
void add_box(const FigureBox& box, double unit, Series& series) {
  series.y.push_back(box.median / unit);
  series.low.push_back(box.min / unit);
  series.high.push_back(box.max / unit);
}

// ---- Figure 4 ----

Table configs_table(const Configs& configs) {
  Table table{
      .key = "configs",
      .title = "Configurations and their throughput (Chopper, Figure 4, top)",
      .columns =
          {{.key = "config", .title = "config", .unit = Unit::kText},
           {.key = "ranks", .title = "ranks", .unit = Unit::kCount, .show = Show::kDataOnly},
           {.key = "gpus", .title = "GPUs", .unit = Unit::kCount},
           {.key = "iterations", .title = "iterations", .unit = Unit::kCount},
           {.key = "layers", .title = "layers", .unit = Unit::kCount, .show = Show::kDataOnly},
           {.key = "unplaced_share", .title = "unplaced", .unit = Unit::kShare},
           {.key = "span_ns", .title = "iteration", .unit = Unit::kNanoseconds},
           {.key = "tokens", .title = "tokens", .unit = Unit::kCount},
           {.key = "tokens_per_s", .title = "tokens/s", .unit = Unit::kPerSecond},
           {.key = "tokens_per_s_ratio", .title = "of the first's", .unit = Unit::kRatio}},
      .terminal_limit = 0};
  for (const ConfigFigures& config : configs) {
    const PlacementStats& placement = config.placement;
    table.rows.push_back({config.name, config.ranks, config.gpus, config.iterations.size(),
                          placement.layers,
                          ratio(static_cast<double>(placement.unplaced.dur_ns),
                                static_cast<double>(placement.all.dur_ns)),
                          whole_ns(config.span_ns.median), config.tokens, config.tokens_per_s,
                          ratio(config.tokens_per_s, configs.front().tokens_per_s)});
  }
  return table;
}

const FigurePart* part_of(const ConfigFigures& config, LevelPhase phase,
                          std::optional<OpType> type) {
  const auto at = std::find_if(
      config.parts.begin(), config.parts.end(),
      [&](const FigurePart& part) { return part.phase == phase && part.op_type == type; });
  return at == config.parts.end() ? nullptr : &*at;
}

Table breakdown_table(const Configs& configs) {
  Table table{
      .key = "breakdown",
      .title = "Kernel time and launch overhead by phase and type (Chopper, Figure 4)",
      .columns =
          {{.key = "config", .title = "config", .unit = Unit::kText},
           {.key = "phase", .title = "phase", .unit = Unit::kText},
           {.key = "op_type", .title = "type", .unit = Unit::kText},
           {.key = "samples", .title = "samples", .unit = Unit::kCount, .show = Show::kDataOnly},
           {.key = "dur_ns", .title = "duration", .unit = Unit::kNanoseconds},
           {.key = "phase_share", .title = "of the phase", .unit = Unit::kShare},
           {.key = "dur_ratio", .title = "of the first's", .unit = Unit::kRatio},
           {.key = "launch_ns", .title = "launch overhead", .unit = Unit::kNanoseconds},
           {.key = "launch_share", .title = "to duration", .unit = Unit::kShare},
           {.key = "comm_wait_ns", .title = "wait for comm", .unit = Unit::kNanoseconds}},
      .terminal_limit = 60};
  for (const ConfigFigures& config : configs) {
    for (const FigurePart& part : config.parts) {
      const FigurePart* phase = part_of(config, part.phase, std::nullopt);
      const FigurePart* first = part_of(configs.front(), part.phase, part.op_type);
      table.rows.push_back({config.name, level_phase_name(part.phase),
                            part.op_type ? Value(op_type_name(*part.op_type)) : Value("all"),
                            part.samples, whole_ns(part.dur_ns), ratio(part.dur_ns, phase->dur_ns),
                            first != nullptr ? ratio(part.dur_ns, first->dur_ns) : kNaN,
                            whole_ns(part.launch_ns), ratio(part.launch_ns, part.dur_ns),
                            whole_ns(part.comm_wait_ns)});
    }
  }
  return table;
}

// One stacked bar per configuration; `pick` says what a part gives.
template <typename Parts, typename Pick>
Chart stacked(const Configs& configs, std::string key, std::string title, const Parts& parts,
              const Pick& pick) {
  Chart chart{.key = std::move(key),
              .title = std::move(title),
              .y = {"median over iterations and GPUs", Unit::kNanoseconds},
              .categories = names_of(configs)};
  for (const auto& [phase, type] : parts) {
    Series series{.name = std::string(type ? op_type_name(*type) : level_phase_name(phase)),
                  .mark = Mark::kStackedBars};
    for (const ConfigFigures& config : configs) {
      const FigurePart* part = part_of(config, phase, type);
      series.y.push_back(part != nullptr ? pick(*part) : kNaN);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

using PartKeys = std::vector<std::pair<LevelPhase, std::optional<OpType>>>;

void add_breakdown_charts(const Configs& configs, Section& section) {
  Chart throughput{.key = "throughput",
                   .title = "Throughput (Chopper, Figure 4, top)",
                   .y = {"tokens per second", Unit::kPerSecond},
                   .categories = names_of(configs)};
  throughput.series.push_back({.name = "tokens/s", .mark = Mark::kBars});
  for (const ConfigFigures& config : configs)
    throughput.series.back().y.push_back(config.tokens_per_s);
  section.blocks.push_back(std::move(throughput));
  std::map<LevelPhase, PartKeys> types;
  for (const ConfigFigures& config : configs) {
    for (const FigurePart& part : config.parts) {
      PartKeys& keys = types[part.phase];
      const std::pair key(part.phase, part.op_type);
      if (part.op_type && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
    }
  }
  PartKeys phases;
  for (const auto& [phase, keys] : types) phases.emplace_back(phase, std::nullopt);
  const auto duration = [](const FigurePart& part) { return part.dur_ns; };
  const auto launch = [](const FigurePart& part) { return part.launch_ns; };
  section.blocks.push_back(stacked(configs, "duration_by_phase",
                                   "Kernel time by phase (Chopper, Figure 4)", phases, duration));
  section.blocks.push_back(stacked(configs, "launch_by_phase",
                                   "Launch overhead by phase (Chopper, Figure 4)", phases, launch));
  for (auto& [phase, keys] : types) {
    std::sort(keys.begin(), keys.end());
    const std::string_view name = level_phase_name(phase);
    section.blocks.push_back(
        stacked(configs, fmt::format("duration_{}", name),
                fmt::format("Kernel time by type, {} (Chopper, Figure 4)", name), keys, duration));
    section.blocks.push_back(stacked(
        configs, fmt::format("launch_{}", name),
        fmt::format("Launch overhead by type, {} (Chopper, Figure 4)", name), keys, launch));
  }
}

// ---- Figure 5 ----

using Longest = std::map<FigureOpName, double>;

Longest longest_of(const Configs& configs) {
  Longest longest;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) {
      double& most = longest[op.name];
      most = std::max(most, op.dur_ns.max);
    }
  }
  return longest;
}

Table operations_table(const Configs& configs) {
  Table table{.key = "operations",
              .title =
                  "Operation duration over GPUs and iterations, layers together (Chopper, "
                  "Figure 5)",
              .columns = op_columns(),
              .terminal_limit = 40};
  append(table.columns, box_columns());
  append(table.columns, {{.key = "relative", .title = "median of longest", .unit = Unit::kShare}});
  const Longest longest = longest_of(configs);
  std::vector<std::pair<double, Row>> rows;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) {
      Row row = op_cells(config, op.name);
      append(row, box_cells(op.dur_ns));
      row.push_back(ratio(op.dur_ns.median, longest.at(op.name)));
      rows.emplace_back(longest.at(op.name), std::move(row));
    }
  }
  // The longest operations first, each one's configurations together.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [longest_ns, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

const FigureOp* find_op(const ConfigFigures& config, const FigureOpName& name) {
  const auto at = std::find_if(config.ops.begin(), config.ops.end(),
                               [&name](const FigureOp& op) { return op.name == name; });
  return at == config.ops.end() ? nullptr : &*at;
}

std::set<LevelPhase> phases_of(const Configs& configs) {
  std::set<LevelPhase> phases;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) phases.insert(op.name.phase);
  }
  return phases;
}

// Bars with whiskers of some operations, as shares of the longest sample of each.
Chart operations_chart(const Configs& configs, const std::vector<FigureOpName>& ops,
                       std::string key, std::string title) {
  const Longest longest = longest_of(configs);
  Chart chart{.key = std::move(key),
              .title = std::move(title),
              .caption =
                  "Medians, whiskers from the least to the greatest sample, of the longest "
                  "sample of all configurations",
              .y = {"of the longest", Unit::kShare},
              .horizontal = true};
  for (const FigureOpName& op : ops) chart.categories.push_back(name_of(op));
  for (const ConfigFigures& config : configs) {
    Series series{.name = config.name, .mark = Mark::kBars};
    for (const FigureOpName& name : ops) {
      const FigureOp* op = find_op(config, name);
      add_box(op != nullptr ? op->dur_ns : FigureBox{}, longest.at(name), series);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

void add_operation_charts(const Configs& configs, Section& section) {
  for (const LevelPhase phase : phases_of(configs)) {
    const std::string_view name = level_phase_name(phase);
    std::vector<FigureOpName> heavy = dominant_ops(configs, phase, OpType::kGemm, kOpsInCharts);
    for (const FigureOpName& op : dominant_ops(configs, phase, OpType::kAttention, kOpsInCharts))
      heavy.push_back(op);
    const std::vector<FigureOpName> vector =
        dominant_ops(configs, phase, OpType::kVector, kOpsInCharts);
    if (!heavy.empty()) {
      section.blocks.push_back(operations_chart(
          configs, heavy, fmt::format("gemm_{}", name),
          fmt::format("Matrix products and attention, {} (Chopper, Figure 5a)", name)));
    }
    if (!vector.empty()) {
      section.blocks.push_back(
          operations_chart(configs, vector, fmt::format("vec_{}", name),
                           fmt::format("Vector operations, {} (Chopper, Figure 5b)", name)));
    }
  }
}

// ---- Figure 6 ----

double longest_comm(const Configs& configs) {
  double most = 0;
  for (const ConfigFigures& config : configs) {
    for (const FigureComm& comm : config.comms) most = std::max(most, comm.dur_ns.max);
  }
  return most;
}

void add_communication(const Configs& configs, Section& section) {
  const double most = longest_comm(configs);
  Table table{.key = "communication",
              .title = "Communication kernels per iteration (Chopper, Figure 6)",
              .columns = {{.key = "config", .title = "config", .unit = Unit::kText},
                          {.key = "collective", .title = "collective", .unit = Unit::kText},
                          {.key = "kernels", .title = "kernels", .unit = Unit::kCount}},
              .terminal_limit = 40};
  append(table.columns, box_columns());
  append(table.columns,
         {{.key = "relative", .title = "median of longest", .unit = Unit::kShare},
          {.key = "iteration_ns", .title = "iteration", .unit = Unit::kNanoseconds}});
  std::set<std::string> kinds;
  for (const ConfigFigures& config : configs) {
    for (const FigureComm& comm : config.comms) {
      kinds.insert(comm.kind);
      Row row = {config.name, comm.kind, comm.kernels};
      append(row, box_cells(comm.dur_ns));
      append(row, {ratio(comm.dur_ns.median, most), whole_ns(config.span_ns.median)});
      table.rows.push_back(std::move(row));
    }
  }
  section.blocks.push_back(std::move(table));
  if (kinds.empty()) return;
  Chart chart{.key = "communication",
              .title = "Communication kernels per iteration (Chopper, Figure 6)",
              .caption =
                  "Medians, whiskers from the least to the greatest GPU and iteration, of "
                  "the longest sample; the line is the iteration, of the longest one",
              .y = {"of the longest", Unit::kShare},
              .categories = names_of(configs)};
  for (const std::string& kind : kinds) {
    Series series{.name = kind, .mark = Mark::kBars};
    for (const ConfigFigures& config : configs) {
      const auto at = std::find_if(config.comms.begin(), config.comms.end(),
                                   [&kind](const FigureComm& c) { return c.kind == kind; });
      add_box(at != config.comms.end() ? at->dur_ns : FigureBox{}, most, series);
    }
    chart.series.push_back(std::move(series));
  }
  double longest_span = 0;
  for (const ConfigFigures& config : configs)
    longest_span = std::max(longest_span, config.span_ns.median);
  Series line{.name = "iteration"};
  for (const ConfigFigures& config : configs)
    line.y.push_back(ratio(config.span_ns.median, longest_span));
  chart.series.push_back(std::move(line));
  section.blocks.push_back(std::move(chart));
}

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

// ---- Figure 11 ----

void add_launch(const Configs& configs, Section& section) {
  Table table{
      .key = "launch",
      .title = "Launch overhead of an operation, means over executions (Chopper, Figure 11)",
      .columns = op_columns(),
      .terminal_limit = 30};
  append(table.columns, {{.key = "executions", .title = "executions", .unit = Unit::kCount},
                         {.key = "prep_ns", .title = "prep", .unit = Unit::kNanoseconds},
                         {.key = "call_ns", .title = "call", .unit = Unit::kNanoseconds}});
  std::map<FigureOpName, double> worst;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) {
      double& most = worst[op.name];
      most = std::max(most, op.prep_ns + op.call_ns);
    }
  }
  std::vector<std::pair<double, FigureOpName>> order;
  for (const auto& [name, most] : worst) order.emplace_back(-most, name);
  std::sort(order.begin(), order.end());
  for (const auto& [most, name] : order) {
    for (const ConfigFigures& config : configs) {
      const FigureOp* op = find_op(config, name);
      if (op == nullptr) continue;
      Row row = op_cells(config, name);
      append(row, {op->executions, whole_ns(op->prep_ns), whole_ns(op->call_ns)});
      table.rows.push_back(std::move(row));
    }
  }
  section.blocks.push_back(std::move(table));
  order.resize(std::min(order.size(), kOpsInCharts));
  for (const bool prep : {true, false}) {
    Chart chart{.key = prep ? "prep" : "call",
                .title = fmt::format("{} overhead of the top operations (Chopper, Figure 11)",
                                     prep ? "Preparation" : "Call"),
                .y = {"mean over executions", Unit::kNanoseconds},
                .horizontal = true};
    for (const auto& [most, name] : order) chart.categories.push_back(name_of(name));
    for (const ConfigFigures& config : configs) {
      Series series{.name = config.name, .mark = Mark::kBars};
      for (const auto& [most, name] : order) {
        const FigureOp* op = find_op(config, name);
        series.y.push_back(op == nullptr ? kNaN : prep ? op->prep_ns : op->call_ns);
      }
      chart.series.push_back(std::move(series));
    }
    section.blocks.push_back(std::move(chart));
  }
}

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

std::vector<std::string> signals_of(const Configs& configs) {
  std::set<std::string> signals;
  for (const ConfigFigures& config : configs) {
    for (const FigureMoment& moment : config.moments) signals.insert(moment.signal);
  }
  return {signals.begin(), signals.end()};
}

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

// ---- what could not be made ----

struct Availability {
  const char* figure;
  const char* title;
  std::function<std::string(const ConfigFigures&)> lacks;  // empty: made
};

std::string lacks_iterations(const ConfigFigures& config) {
  return config.iterations.empty() ? "no iteration with a compute kernel in its traces" : "";
}

std::string lacks_collectives(const ConfigFigures& config) {
  if (std::string why = lacks_iterations(config); !why.empty()) return why;
  return config.comms.empty() ? "no collective in its traces" : "";
}

bool has_type(const ConfigFigures& config, OpType type) {
  return std::any_of(config.ops.begin(), config.ops.end(),
                     [type](const FigureOp& op) { return op.name.type == type; });
}

std::string lacks_curve(const ConfigFigures& config) {
  if (std::string why = lacks_collectives(config); !why.empty()) return why;
  return config.executions.empty() ? "no matrix product whose layer is known" : "";
}

std::string lacks_attention(const ConfigFigures& config) {
  if (std::string why = lacks_collectives(config); !why.empty()) return why;
  return has_type(config, OpType::kAttention) ? "" : "no attention kernel in its traces";
}

std::string lacks_tokens(const ConfigFigures& config) {
  if (std::string why = lacks_iterations(config); !why.empty()) return why;
  return config.tokens ? ""
                       : "tokens per iteration are not known: record shapes, or say --tokens "
                         "CONFIG=N";
}

std::string lacks_cores(const ConfigFigures& config) {
  return config.cores.empty() ? "no log of processor utilisation" : "";
}

std::string lacks_moments(const ConfigFigures& config) {
  return config.moments.empty() ? "no log of GPU clocks or power" : "";
}

std::string lacks_waterfalls(const ConfigFigures& config) {
  if (!config.waterfalls.empty()) return "";
  return config.no_waterfalls.empty() ? "no counter runs" : config.no_waterfalls;
}

void add_availability(const Configs& configs, Section& section) {
  const std::vector<Availability> figures = {
      {"4, top", "throughput", lacks_tokens},
      {"4", "kernel time and launch overhead by phase and type", lacks_iterations},
      {"5", "operation duration", lacks_iterations},
      {"6", "communication kernels", lacks_collectives},
      {"7", "overlap and duration by layer", lacks_collectives},
      {"8", "overlap against duration", lacks_curve},
      {"9", "overlap of attention", lacks_attention},
      {"11", "preparation and call overhead", lacks_iterations},
      {"13", "active and needed cores", lacks_cores},
      {"14", "clocks and power", lacks_moments},
      {"15", "from peak to measured time", lacks_waterfalls},
  };
  Table table{.key = "available",
              .columns = {{.key = "figure", .title = "figure", .unit = Unit::kText},
                          {.key = "shows", .title = "shows", .unit = Unit::kText},
                          {.key = "configs", .title = "configs", .unit = Unit::kCount},
                          {.key = "missing", .title = "missing", .unit = Unit::kText}},
              .show = Show::kDataOnly};
  Prose missing_words{.paragraphs = {}, .bullets = true, .show = Show::kReadersOnly};
  for (const Availability& figure : figures) {
    std::map<std::string, Value::List> missing;
    size_t made = 0;
    for (const ConfigFigures& config : configs) {
      const std::string why = figure.lacks(config);
      if (why.empty()) ++made;
      if (!why.empty()) missing[why].push_back(config.name);
    }
    Value::List sentences;
    for (const auto& [why, names] : missing) {
      const std::string some =
          names.size() == configs.size() ? "" : fmt::format("{}: ", fmt::join(names, ", "));
      sentences.push_back(some + why);
      missing_words.paragraphs.push_back(
          fmt::format("No Figure {} ({}){}: {}", figure.figure, figure.title,
                      some.empty() ? "" : fmt::format(" for {}", fmt::join(names, ", ")), why));
    }
    table.rows.push_back({figure.figure, figure.title, made,
                          sentences.empty() ? Value() : Value(std::move(sentences))});
  }
  section.blocks.push_back(std::move(table));
  if (!missing_words.paragraphs.empty()) section.blocks.push_back(std::move(missing_words));
}

// ---- words ----

std::string throughput_words(const Configs& configs) {
  const auto known = [](const ConfigFigures& c) { return std::isfinite(c.tokens_per_s); };
  const auto less = [&known](const ConfigFigures& a, const ConfigFigures& b) {
    return known(b) && (!known(a) || a.tokens_per_s < b.tokens_per_s);
  };
  const ConfigFigures& best = *std::max_element(configs.begin(), configs.end(), less);
  if (!known(best)) return "No configuration tells how many tokens an iteration takes in.";
  const ConfigFigures& first = configs.front();
  std::string words =
      fmt::format("{} has the highest throughput: {} tokens/s", best.name,
                  format_count(static_cast<int64_t>(std::llround(best.tokens_per_s))));
  if (&best != &first && known(first)) {
    words += fmt::format(", {:.2f} times that of {}", best.tokens_per_s / first.tokens_per_s,
                         first.name);
  }
  return words + ".";
}

struct Whole {
  double dur_ns = 0;
  double launch_ns = 0;
  double gemm_ns = 0;
};

Whole whole_of(const ConfigFigures& config) {
  Whole whole;
  for (const FigurePart& part : config.parts) {
    if (!part.op_type) whole.dur_ns += part.dur_ns;
    if (!part.op_type) whole.launch_ns += part.launch_ns;
    if (part.op_type == OpType::kGemm) whole.gemm_ns += part.dur_ns;
  }
  return whole;
}

// "from A % (name) to B % (name)", or one figure where all are alike.
std::string range_words(const Configs& configs,
                        const std::function<double(const ConfigFigures&)>& share) {
  std::vector<std::pair<double, std::string>> shares;
  for (const ConfigFigures& config : configs) {
    if (std::isfinite(share(config))) shares.emplace_back(share(config), config.name);
  }
  if (shares.empty()) return "";
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  if (shares.size() == 1 || format_share(low->first) == format_share(high->first))
    return format_share(low->first);
  return fmt::format("{} ({}) to {} ({})", format_share(low->first), low->second,
                     format_share(high->first), high->second);
}

std::string correlation_words(const Configs& configs) {
  const FigureOp* strongest = nullptr;
  const ConfigFigures* of = nullptr;
  for (const ConfigFigures& config : configs) {
    const double kernels_ns = whole_of(config).dur_ns;
    for (const FigureOp& op : config.ops) {
      const bool heavy = op.dur_ns.median > 0.02 * kernels_ns && op.executions >= 8;
      if (!heavy || !std::isfinite(op.correlation)) continue;
      if (strongest != nullptr && op.correlation <= strongest->correlation) continue;
      strongest = &op;
      of = &config;
    }
  }
  if (strongest == nullptr) return "";
  return fmt::format(
      "Of the heavier operations, {} in {} goes most with overlap: correlation {:.2f}.",
      name_of(strongest->name), of->name, strongest->correlation);
}

}  // namespace

std::vector<std::string> levels_figures_words(const std::vector<ConfigFigures>& configs) {
  std::vector<std::string> words;
  if (configs.empty()) return words;
  words.push_back(throughput_words(configs));
  const std::string launch = range_words(configs, [](const ConfigFigures& config) {
    const Whole whole = whole_of(config);
    return ratio(whole.launch_ns, whole.dur_ns);
  });
  if (!launch.empty()) words.push_back("Launch overhead adds " + launch + " to the kernel time.");
  const std::string gemm = range_words(configs, [](const ConfigFigures& config) {
    const Whole whole = whole_of(config);
    return ratio(whole.gemm_ns, whole.dur_ns);
  });
  if (!gemm.empty()) words.push_back("Matrix products take " + gemm + " of the kernel time.");
  if (std::string strongest = correlation_words(configs); !strongest.empty())
    words.push_back(std::move(strongest));
  return words;
}

Section levels_figures_section(const std::vector<ConfigFigures>& configs, const FiguresView& view) {
  Section section{.key = "figures", .title = "Configurations side by side"};
  section.blocks.push_back(configs_table(configs));
  add_availability(configs, section);
  section.blocks.push_back(breakdown_table(configs));
  add_breakdown_charts(configs, section);
  section.blocks.push_back(operations_table(configs));
  add_operation_charts(configs, section);
  add_communication(configs, section);
  add_overlap(configs, view, section);
  add_curve(configs, view, section);
  add_launch(configs, section);
  add_cores(configs, section);
  add_telemetry(configs, section);
  add_waterfalls(configs, section);
  return section;
}

}  // namespace assay
