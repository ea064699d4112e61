#include "report/breakdown/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/breakdown/results.h"

namespace assay {
namespace {

// The name of a backward operation already begins with "b_" if it is derived from its forward
// operation.
std::string op_name(const JobLevels& job, const OpWaterfall& op) {
  const std::string& name = job.op_names[op.op];
  switch (op.phase) {
    case LevelPhase::kForward:
      return "f_" + name;
    case LevelPhase::kBackward:
      return name.starts_with("b_") ? name : "b_" + name;
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
  using Pass = PassAlignment;
  TableOf table(counters.passes,
                {.key = "counter_passes", .title = "Counter runs aligned with the trace"});
  table.add(keys::pass, &Pass::pass, elastic())
      .add(keys::format, &Pass::format, Show::kDataOnly)
      .add(keys::gpu, &Pass::gpu)
      .add(keys::device, &Pass::device, Show::kDataOnly)
      .add(keys::iterations, &Pass::iterations)
      .add(keys::kernels, &Pass::kernels)
      .add(keys::pass_kernels, &Pass::pass_kernels)
      .add(keys::unused_kernels, &Pass::unused_kernels, Show::kDataOnly)
      .add(keys::missing_kernels, &Pass::absent_kernels, Show::kDataOnly)
      .add(keys::matched, &Pass::matched)
      .add(keys::match_rate, &Pass::match_rate)
      .add(keys::matched_by, how_matched)
      .add(
          keys::counters, [](const Pass& pass) { return joined(pass.counters); }, elastic());
  return table;
}

Table repeats_table(const CounterJoin& counters) {
  TableOf table(counters.repeats,
                {.key = "counter_repeats", .title = "Counters measured in several runs"});
  table.add(keys::counter, &CounterRepeat::counter, elastic())
      .add(keys::kernels, &CounterRepeat::kernels)
      .add(keys::spread_median, &CounterRepeat::spread_median)
      .add(keys::spread_max, &CounterRepeat::spread_max)
      .add(keys::above_limit, &CounterRepeat::above_limit);
  return table;
}

Facts peaks_facts(const CountersView& view) {
  const WaterfallPeaks& peaks = view.device.peaks;
  Facts facts{.key = "peaks", .title = "Peaks that the waterfall starts from"};
  facts.items = {
      fact(keys::device, peaks.device), fact(keys::flop_per_s, finite_value(peaks.flop_per_s)),
      fact(keys::clock_hz, finite_value(peaks.clock_hz)), data_fact(keys::source, peaks.source)};
  for (const auto& [name, value] : view.device.constants) {
    facts.items.push_back({name, name, finite_value(value), Unit::kNone, "", Show::kDataOnly});
    for (const ResultKey* known : {&keys::compute_units, &keys::matrix_units_per_cu, &keys::xcds}) {
      if (name == known->key) facts.items.back().label = known->title;
    }
  }
  return facts;
}

constexpr std::array<const ResultKey*, kWaterfallBars> kBars = {
    &keys::theoretical_ns, &keys::instruction_ns, &keys::utilisation_ns,
    &keys::overlap_ns,   &keys::frequency_ns,   &keys::residual_ns};

// Operations with a waterfall, or if `refused` those without one.
std::vector<OpWaterfall> waterfalls(const CountersView& view, bool refused) {
  std::vector<OpWaterfall> some;
  for (const OpWaterfall& op : view.ops) {
    if (op.refused.empty() != refused) some.push_back(op);
  }
  return some;
}

void add_factors(TableOf<OpWaterfall>& table) {
  using Op = OpWaterfall;
  const auto of = [](double Waterfall::*field) {
    return [field](const Op& op) { return finite_value(op.waterfall.*field); };
  };
  const auto input = [](double WaterfallInput::*field) {
    return [field](const Op& op) { return finite_value(op.input.*field); };
  };
  constexpr Show kData = Show::kDataOnly;
  table
      .add(keys::ovr_inst,
           [](const Op& op) {
             return op.waterfall.flop_counted ? Value() : finite_value(op.waterfall.instruction);
           })
      .add(keys::ovr_util, of(&Waterfall::utilisation))
      .add(keys::ovr_overlap, of(&Waterfall::overlap))
      .add(keys::ovr_freq, of(&Waterfall::frequency))
      .add(keys::rho, of(&Waterfall::residual))
      .add(keys::d_thr_ns, of(&Waterfall::d_thr_ns), kData)
      .add(keys::d_peak_ns, of(&Waterfall::d_peak_ns), kData)
      .add(keys::flop, input(&WaterfallInput::flop), kData)
      .add(keys::flop_counted, input(&WaterfallInput::flop_counted), kData)
      .add(keys::matrix_busy, input(&WaterfallInput::matrix_busy), kData)
      .add(keys::cycles, input(&WaterfallInput::cycles), kData)
      .add(
          keys::flop_source,
          [](const Op& op) { return op.waterfall.flop_counted ? "counted" : "shapes"; }, kData);
}

Table waterfall_table(const JobLevels& job, const CountersView& view) {
  using Op = OpWaterfall;
  constexpr Show kData = Show::kDataOnly;
  const std::vector<Op> ops = waterfalls(view, false);
  TableOf table(ops, {.key = "waterfall",
                      .title = "From peak to measured time (bars add up to the duration)"});
  table
      .add(
          keys::phase, [](const Op& op) { return level_phase_name(op.phase); }, kData)
      .add(
          keys::op, [&](const Op& op) { return job.op_names[op.op]; }, kData)
      .add(
          keys::name, [&](const Op& op) { return op_name(job, op); }, elastic(Show::kReadersOnly))
      .add(
          keys::op_type, [](const Op& op) { return op_type_name(op.op_type); }, kData)
      .add(keys::executions, &Op::executions)
      .add(keys::left_out, &Op::left_out, kData)
      .add(keys::kernels, &Op::kernels, kData)
      .add(keys::dur_ns, &Op::dur_ns);
  for (size_t i = 0; i < kWaterfallBars; ++i) {
    table.add(*kBars[i], [i](const Op& op) { return op.waterfall.bars_ns[i]; });
  }
  add_factors(table);
  const auto reading = static_cast<size_t>(view.reading);
  table
      .add(
          keys::d0_reading, [&](const Op&) { return overlap_reading_name(view.reading); }, kData)
      .add(
          keys::overlap_extrapolated,
          [reading](const Op& op) { return op.overlap[reading].extrapolated; }, kData);
  return table;
}

Table refused_table(const JobLevels& job, const CountersView& view) {
  using Op = OpWaterfall;
  const std::vector<Op> ops = waterfalls(view, true);
  TableOf table(ops,
                {.key = "waterfall_refused", .title = "Matrix operations without a waterfall"});
  table
      .add(
          keys::name, [&](const Op& op) { return op_name(job, op); }, elastic())
      .add(keys::executions, &Op::executions)
      .add(keys::left_out, &Op::left_out)
      .add(keys::reason, &Op::refused, elastic());
  return table;
}

Table overlap_table(const JobLevels& job, const CountersView& view) {
  using Op = OpWaterfall;
  const auto factor = [](size_t reading) {
    return [reading](const Op& op) { return op.overlap[reading].factor; };
  };
  TableOf table(view.ops, {.key = "overlap_factors",
                           .title = "D_50 % / D_0 % by three methods (Chopper, Eq. 9)"});
  table
      .add(
          keys::name, [&](const Op& op) { return op_name(job, op); }, elastic())
      .add(keys::samples, [](const Op& op) { return op.overlap[0].samples; })
      .add(keys::curve, factor(0))
      .add(keys::cumulative, factor(1))
      .add(keys::quantile, factor(2))
      .add(keys::pearson, [](const Op& op) { return finite_value(op.overlap[0].pearson); })
      .add(keys::constant, [](const Op& op) { return op.overlap[0].constant; })
      .add(keys::extrapolated, [](const Op& op) { return op.overlap[0].extrapolated; });
  return table;
}

Table derived_table(const JobLevels& job, const CountersView& view) {
  struct Derived {
    const OpWaterfall& op;
    const DerivedValue& is;
  };
  std::vector<Derived> values;
  for (const OpWaterfall& op : view.ops) {
    for (const DerivedValue& value : op.derived.values) values.push_back({op, value});
  }
  const auto text = [](std::string DerivedValue::*field) {
    return [field](const Derived& d) { return d.is.*field; };
  };
  TableOf table(values, {.key = "derived", .title = "Derived from counters"});
  table
      .add(
          keys::name, [&](const Derived& d) { return op_name(job, d.op); }, elastic())
      .add(keys::quantity, text(&DerivedValue::quantity))
      .add(keys::value, [](const Derived& d) { return finite_value(d.is.value); })
      .add(keys::unit, text(&DerivedValue::unit))
      .add(keys::formula, text(&DerivedValue::formula), Show::kDataOnly)
      .add(keys::source, text(&DerivedValue::source), Show::kDataOnly)
      .add(
          keys::assumed_zero, [](const Derived& d) { return joined(d.is.assumed_zero); },
          Show::kDataOnly);
  return table;
}

// As in Figure 15: one bar per operation, its mean execution, divided into the waterfall's parts.
Chart waterfall_chart(const JobLevels& job, const CountersView& view) {
  Chart chart{.key = "waterfall_chart",
              .title = "From peak to measured time, per operation (Chopper, Figure 15)"};
  chart.caption =
      "Mean execution. The logarithm of each factor gives its share of what lies between the time "
      "at peak and the measured one.";
  chart.y = {.title = "time per execution", .unit = Unit::kNanoseconds};
  chart.horizontal = true;
  for (size_t i = 0; i < kWaterfallBars; ++i) {
    chart.series.push_back({.name = kBars[i]->title, .mark = Mark::kStackedBars});
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
    case WaterfallBar::kTheoretical:
      return "the arithmetic itself";
    case WaterfallBar::kInstruction:
      return "more operations issued than the shapes need (instruction)";
    case WaterfallBar::kUtilisation:
      return "matrix units that wait (utilisation)";
    case WaterfallBar::kOverlap:
      return "overlapped with collectives";
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
  const size_t runs = job.counters.passes.size();
  words.push_back(fmt::format("{} counter run{} the trace at {} of its kernels{}.", runs,
                              runs == 1 ? " fits" : "s fit", format_share(lowest),
                              runs == 1 || lowest >= 1 ? "" : " or more"));
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
