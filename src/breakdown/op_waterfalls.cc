#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "breakdown/waterfall.h"

namespace assay {
namespace {

// One execution of an operation: its cells of all kernel types.
struct Execution {
  std::vector<const CounterCell*> cells;
  bool complete = true;
  bool matrix = false;  // includes matrix products or attention
  int64_t dur_ns = 0;
  int64_t overlap_ns = 0;
};
using ExecutionKey = std::tuple<int64_t, int32_t, int32_t>;  // gpu, iter, layer
using OpKey = std::pair<LevelPhase, uint32_t>;

std::map<OpKey, std::map<ExecutionKey, Execution>> executions_of(const CounterJoin& counters) {
  std::map<OpKey, std::map<ExecutionKey, Execution>> ops;
  for (const CounterCell& cell : counters.cells) {
    if (cell.op_type == OpType::kComm || cell.op_type == OpType::kCopy) continue;
    Execution& execution = ops[{cell.phase, cell.op}][{cell.gpu, cell.iter, cell.layer}];
    execution.cells.push_back(&cell);
    execution.complete &= cell.complete();
    execution.matrix |= cell.op_type == OpType::kGemm || cell.op_type == OpType::kAttention;
    execution.dur_ns += cell.dur_ns;
    execution.overlap_ns += cell.overlap_ns;
  }
  return ops;
}

// The type with the longest total time: products and attention if present, otherwise vector kernels
// and kernels of unknown type.
OpType main_type(const std::map<ExecutionKey, Execution>& executions) {
  std::map<OpType, int64_t> time;
  for (const auto& [key, execution] : executions) {
    for (const CounterCell* cell : execution.cells) time[cell->op_type] += cell->dur_ns;
  }
  const auto longer = [&](OpType a, OpType b) { return time[b] > time[a] ? b : a; };
  if (time[OpType::kGemm] + time[OpType::kAttention] > 0)
    return longer(OpType::kGemm, OpType::kAttention);
  return longer(OpType::kOther, OpType::kVector);
}

void read_overlap(const std::map<ExecutionKey, Execution>& executions, OpWaterfall& op) {
  std::vector<OverlapSample> samples;
  for (const auto& [key, execution] : executions) {
    if (execution.dur_ns <= 0) continue;
    const auto dur_ns = static_cast<double>(execution.dur_ns);
    samples.push_back(
        {std::get<0>(key), static_cast<double>(execution.overlap_ns) / dur_ns, dur_ns});
  }
  for (size_t i = 0; i < op.overlap.size(); ++i) {
    op.overlap[i] = overlap_factor(samples, static_cast<OverlapReading>(i));
  }
}

// Readable list of the inputs that a quantity's formulas lack; empty if the quantity exists.
std::string lacks(const Derived& derived, std::string_view quantity) {
  for (const MissingQuantity& missing : derived.missing) {
    if (missing.quantity != quantity) continue;
    std::string words = std::string(quantity) + " needs ";
    for (size_t i = 0; i < missing.needs.size(); ++i)
      words += (i == 0 ? "" : "; or ") + missing.needs[i];
    return words;
  }
  return "";
}

double value_of(const Derived& derived, std::string_view quantity) {
  const DerivedValue* found = derived.find(quantity);
  return found == nullptr ? kNan : found->value;
}

// FLOP from shapes; NaN unless all executions used have them.
double flop_of(const std::vector<const CounterCell*>& cells, uint64_t executions,
               const std::map<ExecutionKey, Execution>& all) {
  double flop = 0;
  uint64_t told = 0;
  for (const auto& [key, execution] : all) {
    if (!execution.complete) continue;
    told += std::any_of(execution.cells.begin(), execution.cells.end(),
                        [](const CounterCell* cell) { return !std::isnan(cell->flop); })
                ? 1
                : 0;
  }
  for (const CounterCell* cell : cells) flop += std::isnan(cell->flop) ? 0 : cell->flop;
  return told == executions && told > 0 ? flop : kNan;
}

OpWaterfall one_op(const OpKey& key, const std::map<ExecutionKey, Execution>& executions,
                   const CounterJoin& counters, const CounterFormulas& formulas,
                   const WaterfallOptions& options) {
  OpWaterfall op;
  op.phase = key.first;
  op.op = key.second;
  op.op_type = main_type(executions);
  std::vector<const CounterCell*> cells;
  for (const auto& [place, execution] : executions) {
    if (!execution.complete) {
      ++op.left_out;
      continue;
    }
    ++op.executions;
    op.dur_ns += execution.dur_ns;
    for (const CounterCell* cell : execution.cells) {
      op.kernels += cell->kernels;
      cells.push_back(cell);
    }
  }
  read_overlap(executions, op);
  if (op.executions == 0) {
    op.refused = "no execution with counters for all of its kernels";
    return op;
  }
  NamedValues values = sum_counters(counters, cells);
  for (const auto& [name, value] : options.device.constants) values[name] = value;
  values["duration_s"] = static_cast<double>(op.dur_ns) / 1e9;
  op.derived = formulas.derive(values);
  for (const char* quantity : {"cycles", "matrix_busy", "matrix_flop"}) {
    op.refused = lacks(op.derived, quantity);
    if (!op.refused.empty()) return op;
  }
  op.input = {.d_act_ns = static_cast<double>(op.dur_ns),
              .flop = flop_of(cells, op.executions, executions),
              .flop_counted = value_of(op.derived, "matrix_flop"),
              .matrix_busy = value_of(op.derived, "matrix_busy"),
              .cycles = value_of(op.derived, "cycles"),
              .overlap_factor = op.overlap[static_cast<size_t>(options.reading)].factor};
  auto made = make_waterfall(op.input, options.device.peaks);
  if (made) {
    op.waterfall = *std::move(made);
  } else {
    op.refused = made.error().message;
  }
  return op;
}

}  // namespace

NamedValues sum_counters(const CounterJoin& counters,
                         const std::vector<const CounterCell*>& cells) {
  NamedValues sums;
  double weight = 0;
  for (const CounterCell* cell : cells) weight += cell->weight;
  for (size_t i = 0; i < counters.counters.size(); ++i) {
    double sum = 0;
    for (const CounterCell* cell : cells) sum += cell->values[i];
    if (is_ratio_counter(counters.counters[i])) sum = weight > 0 ? sum / weight : kNan;
    if (std::isfinite(sum)) sums[counters.counters[i]] = sum;
  }
  return sums;
}

std::vector<OpWaterfall> op_waterfalls(const CounterJoin& counters, const CounterFormulas& formulas,
                                       const WaterfallOptions& options) {
  std::vector<OpWaterfall> ops;
  for (const auto& [key, executions] : executions_of(counters)) {
    const bool named = std::any_of(executions.begin(), executions.end(),
                                   [](const auto& execution) { return execution.second.matrix; });
    OpWaterfall op = one_op(key, executions, counters, formulas, options);
    if (named || value_of(op.derived, "matrix_flop") > 0) ops.push_back(std::move(op));
  }
  std::stable_sort(ops.begin(), ops.end(),
                   [](const OpWaterfall& a, const OpWaterfall& b) { return a.dur_ns > b.dur_ns; });
  return ops;
}

}  // namespace assay
