#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/numbers.h"
#include "report/document/units.h"
#include "report/levels/figures_parts.h"

namespace assay::levels_figures {
namespace {

constexpr size_t kOpsInFigures = 12;

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

// Medians with whiskers from the least to the greatest.
void add_box(const FigureBox& box, double unit, Series& series) {
  series.y.push_back(box.median / unit);
  series.low.push_back(box.min / unit);
  series.high.push_back(box.max / unit);
}

// ---- Figure 4 ----

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
                            first != nullptr ? ratio(part.dur_ns, first->dur_ns) : kNan,
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
      series.y.push_back(part != nullptr ? pick(*part) : kNan);
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
}  // namespace

void add_breakdown(const Configs& configs, Section& section) {
  section.blocks.push_back(breakdown_table(configs));
  add_breakdown_charts(configs, section);
}

namespace {

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
    std::vector<FigureOpName> heavy = dominant_ops(configs, phase, OpType::kGemm, kOpsInFigures);
    for (const FigureOpName& op : dominant_ops(configs, phase, OpType::kAttention, kOpsInFigures))
      heavy.push_back(op);
    const std::vector<FigureOpName> vector =
        dominant_ops(configs, phase, OpType::kVector, kOpsInFigures);
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
}  // namespace

void add_operations(const Configs& configs, Section& section) {
  section.blocks.push_back(operations_table(configs));
  add_operation_charts(configs, section);
}

namespace {

// ---- Figure 6 ----

double longest_comm(const Configs& configs) {
  double most = 0;
  for (const ConfigFigures& config : configs) {
    for (const FigureComm& comm : config.comms) most = std::max(most, comm.dur_ns.max);
  }
  return most;
}

}  // namespace

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
  order.resize(std::min(order.size(), kOpsInFigures));
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
        series.y.push_back(op == nullptr ? kNan : prep ? op->prep_ns : op->call_ns);
      }
      chart.series.push_back(std::move(series));
    }
    section.blocks.push_back(std::move(chart));
  }
}

}  // namespace assay::levels_figures
