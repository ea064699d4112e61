#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "base/numbers.h"
#include "report/breakdown/figures_parts.h"
#include "text/units.h"

namespace assay::breakdown_figures {
namespace {

constexpr size_t kOpsInFigures = 12;

// Part of a row's `is.dur_ns`.
template <typename R>
void add_box_columns(TableOf<R>& table) {
  const auto of = [](double FigureBox::*field) {
    return [field](const R& row) { return whole_ns(row.is.dur_ns.*field); };
  };
  table.add(keys::samples, [](const R& row) { return row.is.dur_ns.samples; })
      .add(keys::min_ns, of(&FigureBox::min))
      .add(keys::p25_ns, of(&FigureBox::p25), Show::kDataOnly)
      .add(keys::median_ns, of(&FigureBox::median))
      .add(keys::p75_ns, of(&FigureBox::p75), Show::kDataOnly)
      .add(keys::max_ns, of(&FigureBox::max));
}

// Median with whiskers from the minimum to the maximum.
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
  struct Part {
    const ConfigFigures& config;
    const FigurePart& is;
    double phase_ns;  // of the whole phase
    double first_ns;  // of the same phase and type in the first configuration
  };
  std::vector<Part> parts;
  for (const ConfigFigures& config : configs) {
    for (const FigurePart& part : config.parts) {
      const FigurePart* first = part_of(configs.front(), part.phase, part.op_type);
      parts.push_back({config, part, part_of(config, part.phase, std::nullopt)->dur_ns,
                       first != nullptr ? first->dur_ns : kNan});
    }
  }
  const auto ns = [](double FigurePart::*field) {
    return [field](const Part& p) { return whole_ns(p.is.*field); };
  };
  TableOf table(parts,
                {.key = "breakdown",
                 .title = "Kernel time and launch overhead by phase and type (Chopper, Figure 4)",
                 .terminal_limit = 60});
  table.add(keys::config, [](const Part& p) { return p.config.name; })
      .add(keys::phase, [](const Part& p) { return level_phase_name(p.is.phase); })
      .add(keys::op_type,
           [](const Part& p) { return p.is.op_type ? op_type_name(*p.is.op_type) : "all"; })
      .add(
          keys::samples, [](const Part& p) { return p.is.samples; }, Show::kDataOnly)
      .add(keys::dur_ns, ns(&FigurePart::dur_ns))
      .add(keys::phase_share, [](const Part& p) { return ratio(p.is.dur_ns, p.phase_ns); })
      .add(keys::dur_ratio, [](const Part& p) { return ratio(p.is.dur_ns, p.first_ns); })
      .add(keys::launch_ns, ns(&FigurePart::launch_ns))
      .add(keys::launch_ratio, [](const Part& p) { return ratio(p.is.launch_ns, p.is.dur_ns); })
      .add(keys::comm_wait_ns, ns(&FigurePart::comm_wait_ns));
  return table;
}

// One stacked bar per configuration; `pick` returns the value of a component.
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
  using Op = OfConfig<FigureOp>;
  const Longest longest = longest_of(configs);
  std::vector<Op> ops;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) ops.push_back({config, op.name, op});
  }
  // Longest operations first; the configurations of an operation are adjacent.
  std::vector<size_t> order(ops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return longest.at(ops[a].name) > longest.at(ops[b].name);
  });
  std::vector<Op> sorted;
  for (const size_t i : order) sorted.push_back(ops[i]);
  TableOf table(sorted, {.key = "operations",
                         .title = "Operation duration over GPUs and iterations, layers together "
                                  "(Chopper, Figure 5)",
                         .terminal_limit = 40});
  add_op_columns(table);
  add_box_columns(table);
  table.add(keys::relative,
            [&](const Op& op) { return ratio(op.is.dur_ns.median, longest.at(op.name)); });
  return table;
}

// Bars with whiskers for some operations, as shares of the longest sample of each operation.
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
  struct Comm {
    const ConfigFigures& config;
    const FigureComm& is;
  };
  std::vector<Comm> comms;
  std::set<std::string> kinds;
  for (const ConfigFigures& config : configs) {
    for (const FigureComm& comm : config.comms) {
      kinds.insert(comm.kind);
      comms.push_back({config, comm});
    }
  }
  TableOf table(comms, {.key = "communication",
                        .title = "Communication kernels per iteration (Chopper, Figure 6)",
                        .terminal_limit = 40});
  table.add(keys::config, [](const Comm& c) { return c.config.name; })
      .add(keys::collective, [](const Comm& c) { return c.is.kind; })
      .add(keys::kernels, [](const Comm& c) { return c.is.kernels; });
  add_box_columns(table);
  table.add(keys::relative, [most](const Comm& c) { return ratio(c.is.dur_ns.median, most); })
      .add(keys::iteration_ns, [](const Comm& c) { return whole_ns(c.config.span_ns.median); });
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
  using Op = OfConfig<FigureOp>;
  std::vector<Op> ops;
  for (const auto& [most, name] : order) {
    for (const ConfigFigures& config : configs) {
      const FigureOp* op = find_op(config, name);
      if (op != nullptr) ops.push_back({config, op->name, *op});
    }
  }
  TableOf table(ops, {.key = "launch",
                      .title = "Launch overhead of an operation, means over executions (Chopper, "
                               "Figure 11)",
                      .terminal_limit = 30});
  add_op_columns(table);
  table.add(keys::executions, [](const Op& op) { return op.is.executions; })
      .add(keys::prep_ns, [](const Op& op) { return whole_ns(op.is.prep_ns); })
      .add(keys::call_ns, [](const Op& op) { return whole_ns(op.is.call_ns); });
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

}  // namespace assay::breakdown_figures
