#include "report/levels/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/document/units.h"

namespace assay {
namespace {

std::string op_name(const JobLevels& job, const OpWaterfall& op) {
  const std::string& name = job.op_names[op.op];
  switch (op.phase) {
    case LevelPhase::kForward:
      return "f_" + name;
    case LevelPhase::kBackward:
      return "b_" + name;
    default:
      return op.phase == LevelPhase::kNone ? name
                                           : std::string(level_phase_name(op.phase)) + " " + name;
  }
}

std::string how_matched(const PassAlignment& pass) {
  std::string words = pass.base_names ? "function name" : "name";
  if (pass.shapes) words += ", grid, block";
  if (pass.per_thread) words += ", per thread";
  if (pass.split) words += ", last iterations";
  return words;
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

Table passes_table(const CounterJoin& counters) {
  Table table{.key = "counter_passes", .title = "Counter runs aligned with the trace"};
  table.columns = {
      {.key = "pass", .title = "counter run", .unit = Unit::kText, .elastic = true},
      {.key = "format", .title = "format", .unit = Unit::kText, .show = Show::kDataOnly},
      {.key = "gpu", .title = "gpu"},
      {.key = "device", .title = "device", .show = Show::kDataOnly},
      {.key = "iterations", .title = "iterations", .unit = Unit::kCount},
      {.key = "kernels", .title = "kernels", .unit = Unit::kCount},
      {.key = "pass_kernels", .title = "in the run", .unit = Unit::kCount},
      {.key = "unused_kernels", .title = "unused", .unit = Unit::kCount, .show = Show::kDataOnly},
      {.key = "absent_kernels", .title = "absent", .unit = Unit::kCount, .show = Show::kDataOnly},
      {.key = "matched", .title = "matched", .unit = Unit::kCount},
      {.key = "match_rate", .title = "match rate", .unit = Unit::kShare},
      {.key = "matched_by", .title = "matched by", .unit = Unit::kText},
      {.key = "counters", .title = "counters", .unit = Unit::kText, .elastic = true}};
  for (const PassAlignment& pass : counters.passes) {
    table.rows.push_back({pass.pass, pass.format, pass.gpu, pass.device, pass.iterations,
                          pass.kernels, pass.pass_kernels, pass.unused_kernels, pass.absent_kernels,
                          pass.matched, pass.match_rate, how_matched(pass), joined(pass.counters)});
  }
  return table;
}

Table repeats_table(const CounterJoin& counters) {
  Table table{.key = "counter_repeats", .title = "Counters measured in several runs"};
  table.columns = {{.key = "counter", .title = "counter", .unit = Unit::kText, .elastic = true},
                   {.key = "kernels", .title = "kernels", .unit = Unit::kCount},
                   {.key = "spread_median", .title = "spread, median", .unit = Unit::kShare},
                   {.key = "spread_max", .title = "spread, largest", .unit = Unit::kShare},
                   {.key = "above_limit", .title = "over 5 %", .unit = Unit::kCount}};
  for (const CounterRepeat& repeat : counters.repeats) {
    table.rows.push_back({repeat.counter, repeat.kernels, repeat.spread_median, repeat.spread_max,
                          repeat.above_limit});
  }
  return table;
}

Facts peaks_facts(const CountersView& view) {
  const WaterfallPeaks& peaks = view.device.peaks;
  Facts facts{.key = "peaks", .title = "Peaks that the waterfall starts from"};
  facts.items = {{"device", "device", peaks.device, Unit::kText},
                 {"flop_per_s", "matrix FLOP/s", finite_value(peaks.flop_per_s), Unit::kPerSecond},
                 {"clock_hz", "clock (Hz)", finite_value(peaks.clock_hz), Unit::kPerSecond},
                 {"source", "source", peaks.source, Unit::kText, "", Show::kDataOnly}};
  for (const auto& [name, value] : view.device.constants) {
    facts.items.push_back({name, name, finite_value(value), Unit::kNone, "", Show::kDataOnly});
  }
  return facts;
}

constexpr std::array<const char*, kWaterfallBars> kBarTitles = {
    "threshold", "instruction", "utilisation", "overlap", "frequency", "residual"};

Table waterfall_table(const JobLevels& job, const CountersView& view) {
  Table table{.key = "waterfall",
              .title = "From peak to measured time (bars add up to the duration)"};
  table.columns = {
      {.key = "phase", .title = "phase", .unit = Unit::kText, .show = Show::kDataOnly},
      {.key = "op", .title = "operation", .unit = Unit::kText, .show = Show::kDataOnly},
      {.key = "name",
       .title = "operation",
       .unit = Unit::kText,
       .elastic = true,
       .show = Show::kReadersOnly},
      {.key = "op_type", .title = "type", .unit = Unit::kText, .show = Show::kDataOnly},
      {.key = "executions", .title = "executions", .unit = Unit::kCount},
      {.key = "left_out", .title = "left out", .unit = Unit::kCount, .show = Show::kDataOnly},
      {.key = "kernels", .title = "kernels", .unit = Unit::kCount, .show = Show::kDataOnly},
      {.key = "dur_ns", .title = "duration", .unit = Unit::kNanoseconds}};
  for (size_t i = 0; i < kWaterfallBars; ++i) {
    table.columns.push_back(
        {.key = std::string(waterfall_bar_name(static_cast<WaterfallBar>(i))) + "_ns",
         .title = kBarTitles[i],
         .unit = Unit::kNanoseconds});
  }
  for (const auto& [key, title] :
       std::initializer_list<std::pair<const char*, const char*>>{{"ovr_inst", "x inst"},
                                                                  {"ovr_util", "x util"},
                                                                  {"ovr_overlap", "x overlap"},
                                                                  {"ovr_freq", "x freq"},
                                                                  {"rho", "rho"}}) {
    table.columns.push_back({.key = key, .title = title, .unit = Unit::kRatio});
  }
  for (const char* key : {"d_thr_ns", "d_peak_ns"}) {
    table.columns.push_back(
        {.key = key, .title = key, .unit = Unit::kNanoseconds, .show = Show::kDataOnly});
  }
  for (const char* key : {"flop", "flop_counted", "matrix_busy", "cycles"}) {
    table.columns.push_back(
        {.key = key, .title = key, .unit = Unit::kNone, .show = Show::kDataOnly});
  }
  for (const char* key : {"flop_source", "d0_reading"}) {
    table.columns.push_back(
        {.key = key, .title = key, .unit = Unit::kText, .show = Show::kDataOnly});
  }
  table.columns.push_back(
      {.key = "overlap_extrapolated", .title = "extrapolated", .show = Show::kDataOnly});
  for (const OpWaterfall& op : view.ops) {
    if (!op.refused.empty()) continue;
    const Waterfall& made = op.waterfall;
    Row row = {level_phase_name(op.phase),
               job.op_names[op.op],
               op_name(job, op),
               op_type_name(op.op_type),
               op.executions,
               op.left_out,
               op.kernels,
               op.dur_ns};
    for (const int64_t bar : made.bars_ns) row.push_back(bar);
    const double inst = made.flop_counted ? kNotTold : made.instruction;
    for (const double value : {inst, made.utilisation, made.overlap, made.frequency, made.residual,
                               made.d_thr_ns, made.d_peak_ns, op.input.flop, op.input.flop_counted,
                               op.input.matrix_busy, op.input.cycles}) {
      row.push_back(finite_value(value));
    }
    row.push_back(made.flop_counted ? "counted" : "shapes");
    row.push_back(overlap_reading_name(view.reading));
    row.push_back(op.overlap[static_cast<size_t>(view.reading)].extrapolated);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table refused_table(const JobLevels& job, const CountersView& view) {
  Table table{.key = "waterfall_refused", .title = "Matrix operations without a waterfall"};
  table.columns = {{.key = "name", .title = "operation", .unit = Unit::kText, .elastic = true},
                   {.key = "executions", .title = "executions", .unit = Unit::kCount},
                   {.key = "left_out", .title = "without counters", .unit = Unit::kCount},
                   {.key = "reason", .title = "reason", .unit = Unit::kText, .elastic = true}};
  for (const OpWaterfall& op : view.ops) {
    if (op.refused.empty()) continue;
    table.rows.push_back({op_name(job, op), op.executions, op.left_out, op.refused});
  }
  return table;
}

Table overlap_table(const JobLevels& job, const CountersView& view) {
  Table table{.key = "overlap_factors",
              .title = "D_50 % / D_0 % by its three readings (Chopper, Eq. 9)",
              .show = Show::kEverywhere};
  table.columns = {{.key = "name", .title = "operation", .unit = Unit::kText, .elastic = true},
                   {.key = "samples", .title = "samples", .unit = Unit::kCount},
                   {.key = "curve", .title = "curve", .unit = Unit::kRatio},
                   {.key = "cumulative", .title = "cumulative", .unit = Unit::kRatio},
                   {.key = "quantile", .title = "quantile", .unit = Unit::kRatio},
                   {.key = "pearson", .title = "correlation", .unit = Unit::kRatio},
                   {.key = "constant", .title = "overlap constant"},
                   {.key = "extrapolated", .title = "extrapolated"}};
  for (const OpWaterfall& op : view.ops) {
    const OverlapFactor& curve = op.overlap[0];
    table.rows.push_back({op_name(job, op), curve.samples, op.overlap[0].factor,
                          op.overlap[1].factor, op.overlap[2].factor, finite_value(curve.pearson),
                          curve.constant, curve.extrapolated});
  }
  return table;
}

Table derived_table(const JobLevels& job, const CountersView& view) {
  Table table{.key = "derived", .title = "Derived from counters"};
  table.columns = {
      {.key = "name", .title = "operation", .unit = Unit::kText, .elastic = true},
      {.key = "quantity", .title = "quantity", .unit = Unit::kText},
      {.key = "value", .title = "value", .unit = Unit::kRatio},
      {.key = "unit", .title = "unit", .unit = Unit::kText},
      {.key = "formula", .title = "formula", .unit = Unit::kText, .show = Show::kDataOnly},
      {.key = "source", .title = "source", .unit = Unit::kText, .show = Show::kDataOnly},
      {.key = "assumed_zero",
       .title = "not measured, taken as 0",
       .unit = Unit::kText,
       .show = Show::kDataOnly}};
  for (const OpWaterfall& op : view.ops) {
    for (const DerivedValue& value : op.derived.values) {
      table.rows.push_back({op_name(job, op), value.quantity, finite_value(value.value), value.unit,
                            value.formula, value.source, joined(value.assumed_zero)});
    }
  }
  return table;
}

// Figure 15's form: an operation is a bar of its mean execution, cut into what it is made of.
Chart waterfall_chart(const JobLevels& job, const CountersView& view) {
  Chart chart{.key = "waterfall_chart",
              .title = "From peak to measured time, per operation (Chopper, Figure 15)"};
  chart.caption =
      "Mean execution. The logarithm of each factor gives its share of what lies between the time "
      "at peak and the measured one.";
  chart.y = {.title = "time per execution", .unit = Unit::kNanoseconds};
  chart.horizontal = true;
  for (size_t i = 0; i < kWaterfallBars; ++i) {
    chart.series.push_back({.name = kBarTitles[i], .mark = Mark::kStackedBars});
  }
  for (const OpWaterfall& op : view.ops) {
    if (!op.refused.empty()) continue;
    chart.categories.push_back(op_name(job, op));
    for (size_t i = 0; i < kWaterfallBars; ++i) {
      chart.series[i].y.push_back(static_cast<double>(op.waterfall.bars_ns[i]) /
                                  static_cast<double>(op.executions));
    }
  }
  return chart;
}

const char* bar_in_words(WaterfallBar bar) {
  switch (bar) {
    case WaterfallBar::kThreshold:
      return "the arithmetic itself";
    case WaterfallBar::kInstruction:
      return "more operations issued than the shapes need (instruction)";
    case WaterfallBar::kUtilisation:
      return "matrix units that wait (utilisation)";
    case WaterfallBar::kOverlap:
      return "running beside collectives (overlap)";
    case WaterfallBar::kFrequency:
      return "a clock below its peak (frequency)";
    case WaterfallBar::kResidual:
      return "slower matrix instructions or data types (residual)";
  }
  return "";
}

std::string heaviest_words(const JobLevels& job, const OpWaterfall& op) {
  const Waterfall& made = op.waterfall;
  size_t worst = 1;
  for (size_t i = 1; i < kWaterfallBars; ++i) {
    if (made.bars_ns[i] > made.bars_ns[worst]) worst = i;
  }
  const auto share = [&](int64_t part) {
    return format_share(static_cast<double>(part) / static_cast<double>(op.dur_ns));
  };
  return fmt::format(
      "{} takes {}, of which its arithmetic at peak is {}; most of the rest is {}: {}.",
      op_name(job, op), format_ns(op.dur_ns), share(made.bars_ns[0]),
      bar_in_words(static_cast<WaterfallBar>(worst)), share(made.bars_ns[worst]));
}

}  // namespace

std::vector<std::string> counter_words(const JobLevels& job, const CountersView& view) {
  std::vector<std::string> words;
  double lowest = 1;
  for (const PassAlignment& pass : job.counters.passes) lowest = std::min(lowest, pass.match_rate);
  words.push_back(
      fmt::format("{} counter run{} {} the trace at {} of its kernels or more.",
                  job.counters.passes.size(), job.counters.passes.size() == 1 ? "" : "s",
                  job.counters.passes.size() == 1 ? "fits" : "fit", format_share(lowest)));
  const auto first = std::find_if(view.ops.begin(), view.ops.end(),
                                  [](const OpWaterfall& op) { return op.refused.empty(); });
  if (first != view.ops.end()) {
    words.push_back(heaviest_words(job, *first));
  } else if (!view.ops.empty()) {
    words.push_back("No operation has a waterfall: " + view.ops.front().refused + ".");
  } else {
    words.push_back(
        "No kernel is a matrix product or attention: there is nothing to draw a "
        "waterfall of.");
  }
  return words;
}

void add_counter_blocks(const JobLevels& job, const CountersView& view, Section& section) {
  section.blocks.push_back(passes_table(job.counters));
  if (!job.counters.repeats.empty()) section.blocks.push_back(repeats_table(job.counters));
  section.blocks.push_back(peaks_facts(view));
  section.blocks.push_back(waterfall_table(job, view));
  Table refused = refused_table(job, view);
  if (!refused.rows.empty()) section.blocks.push_back(std::move(refused));
  section.blocks.push_back(overlap_table(job, view));
  section.blocks.push_back(derived_table(job, view));
  Chart chart = waterfall_chart(job, view);
  if (!chart.categories.empty()) section.blocks.push_back(std::move(chart));
}

}  // namespace assay
