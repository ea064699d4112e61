#include "report/breakdown/telemetry.h"
#include "base/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "report/breakdown/results.h"

namespace assay {
namespace {

constexpr size_t kMostPoints = 2000;      // points of a curve on the page
constexpr size_t kMostHeatMoments = 200;  // columns of the heat map of cores
constexpr uint64_t kFewSamples = 5;       // fewer samples are marked as few

struct SignalWords {
  TelemetrySignal signal;
  const char* title;
  const char* unit;
  int digits;
};
constexpr std::array<SignalWords, 7> kSignalWords = {{
    {TelemetrySignal::kSmClock, "GPU clock", "MHz", 0},
    {TelemetrySignal::kMemoryClock, "memory", "MHz", 0},
    {TelemetrySignal::kPower, "power", "W", 1},
    {TelemetrySignal::kActiveCores, "cores active", "", 1},
    {TelemetrySignal::kMinCores, "cores needed", "", 2},
    {TelemetrySignal::kGpuUtil, "load", "%", 0},
    {TelemetrySignal::kTemperature, "temp.", "C", 0},
}};

// True if a symmetric interval would have a wrong bound.
bool skewed(const SampledValue& value) {
  const double below = value.value - value.low;
  const double above = value.high - value.value;
  return std::max(below, above) > 1.25 * std::min(below, above);
}

// "1410 ±3", or "1410 (1390..1415)" for an asymmetric interval. "1290..1410" if the samples do not
// resolve the interval, "~1410" if all samples around it are equal, "-" if there are none.
std::string value_words(const SampledValue& value, int digits) {
  switch (value.how) {
    case SampledHow::kModelled:
      if (skewed(value)) {
        return fmt::format("{:.{}f} ({:.{}f}..{:.{}f})", value.value, digits, value.low, digits,
                           value.high, digits);
      }
      [[fallthrough]];
    case SampledHow::kWeighted:
    case SampledHow::kHits:
      if (!std::isfinite(value.high)) return fmt::format("{:.{}f}", value.value, digits);
      return fmt::format("{:.{}f} ±{:.{}f}", value.value, digits, (value.high - value.low) / 2,
                         digits);
    case SampledHow::kBracket:
      if (value.low == value.high) return fmt::format("~{:.{}f}", value.low, digits);
      return fmt::format("{:.{}f}..{:.{}f}", value.low, digits, value.high, digits);
    case SampledHow::kNone:
      break;
  }
  return "-";
}

const SampledValue* find(const TelemetryRow& row, TelemetrySignal signal) {
  for (const SampledValue& value : row.values) {
    if (value.signal == signal) return &value;
  }
  return nullptr;
}

// Every value of every row, for JSON and CSV.
Table data_table(const TelemetryReport& report) {
  struct Sampled {
    const TelemetryRow& row;
    const SampledValue& is;
  };
  std::vector<Sampled> all;
  for (const TelemetryRow& row : report.rows) {
    for (const SampledValue& value : row.values) all.push_back({row, value});
  }
  const auto of_row = [](auto TelemetryRow::*field) {
    return [field](const Sampled& s) { return s.row.*field; };
  };
  const auto text = [](std::string TelemetryRow::*field) {
    return [field](const Sampled& s) {
      const std::string& told = s.row.*field;
      return told.empty() ? Value() : Value(told);
    };
  };
  const auto of_value = [](auto SampledValue::*field) {
    return [field](const Sampled& s) { return s.is.*field; };
  };
  TableOf table(all, {.key = "telemetry", .show = Show::kDataOnly});
  table.add(keys::level, [](const Sampled& s) { return telemetry_level_name(s.row.level); })
      .add(keys::gpu, of_row(&TelemetryRow::gpu))
      .add(keys::file, text(&TelemetryRow::file))
      .add(
          keys::iter,
          [](const Sampled& s) { return s.row.iter == kNoIteration ? Value() : Value(s.row.iter); })
      .add(keys::phase, [](const Sampled& s) { return level_phase_name(s.row.phase); })
      .add(keys::op, text(&TelemetryRow::op))
      .add(keys::intervals, of_row(&TelemetryRow::intervals))
      .add(keys::time_ns, of_row(&TelemetryRow::time_ns))
      .add(keys::longest_ns, of_row(&TelemetryRow::longest_ns))
      .add(keys::signal, [](const Sampled& s) { return telemetry_signal_name(s.is.signal); })
      .add(keys::how, [](const Sampled& s) { return sampled_how_name(s.is.how); })
      .add(keys::value, of_value(&SampledValue::value))
      .add(keys::low, of_value(&SampledValue::low))
      .add(keys::high, of_value(&SampledValue::high))
      .add(keys::samples, of_value(&SampledValue::samples))
      .add(keys::coverage_share, of_value(&SampledValue::coverage_share));
  return table;
}

// The rows of one level for readers, with a column per signal that occurs.
Table reader_table(const TelemetryReport& report, TelemetryLevel level) {
  const bool iterations = level == TelemetryLevel::kIteration;
  std::vector<TelemetryRow> rows;
  for (const TelemetryRow& row : report.rows) {
    if (row.level == level) rows.push_back(row);
  }
  if (!iterations) {
    std::stable_sort(rows.begin(), rows.end(), [](const TelemetryRow& a, const TelemetryRow& b) {
      return a.time_ns > b.time_ns;
    });
  }
  TableOf table(
      rows, {.title = fmt::format("Clocks, power and cores per {}", telemetry_level_name(level)),
             .terminal_limit = 16,
             .show = rows.empty() ? Show::kDataOnly : Show::kReadersOnly});
  table.add(keys::gpu, &TelemetryRow::gpu);
  if (iterations) table.add(keys::iter, &TelemetryRow::iter);
  if (!iterations) {
    table.add(keys::phase, [](const TelemetryRow& row) { return level_phase_name(row.phase); });
  }
  if (level == TelemetryLevel::kOperation) table.add(keys::op, &TelemetryRow::op, elastic());
  table.add(keys::time_ns, &TelemetryRow::time_ns).add(keys::samples, [](const TelemetryRow& row) {
    uint64_t samples = 0;
    bool sampled = false;
    for (const SampledValue& value : row.values) {
      if (value.how == SampledHow::kModelled) continue;  // estimated from samples everywhere
      samples = std::max(samples, value.samples);
      sampled = true;
    }
    return sampled ? Value(samples) : Value();
  });
  for (const SignalWords& one : kSignalWords) {
    const bool any = std::any_of(rows.begin(), rows.end(), [&](const TelemetryRow& row) {
      return find(row, one.signal) != nullptr;
    });
    if (!any) continue;
    const std::string unit = *one.unit == 0 ? "" : fmt::format(", {}", one.unit);
    table.add_named({.key = std::string(telemetry_signal_name(one.signal)),
                     .title = one.title + unit,
                     .unit = Unit::kText,
                     .align = Align::kRight},
                    [&one](const TelemetryRow& row) {
                      const SampledValue* value = find(row, one.signal);
                      return value == nullptr ? Value() : Value(value_words(*value, one.digits));
                    });
  }
  return table;
}

Table files_table(const TelemetryReport& report) {
  // Relative to the start of the trace, because times since 1970 mean nothing to readers.

  TableOf table(report.files, {.key = "telemetry_files", .title = "Logs aligned with the trace"});
  table.add(keys::file, &TelemetryFile::path, elastic())
      .add(keys::format, &TelemetryFile::format)
      .add(keys::clock, &TelemetryFile::clock)
      .add(keys::offset_ns, &TelemetryFile::offset_ns)
      .add(keys::rows, &TelemetryFile::rows)
      .add(keys::begins_ns,
           [&](const TelemetryFile& file) { return file.span.start_ns - report.trace.start_ns; })
      .add(keys::ends_ns,
           [&](const TelemetryFile& file) { return file.span.end_ns - report.trace.start_ns; });
  return table;
}

std::string placed_words(const TelemetryLag& lag) {
  if (!lag.unknown.empty()) return lag.unknown;
  if (!lag.clear) return "ambiguous";
  return lag.beyond_sensor ? "clock_off" : "clear";
}

// Delays of the samples relative to the trace.
Table lags_table(const TelemetryReport& report) {
  const auto of_fit = [](int64_t TelemetryLag::*field) {
    return [field](const TelemetryLag& lag) {
      return lag.unknown.empty() ? Value(lag.*field) : Value();
    };
  };
  TableOf table(report.lags, {.key = "telemetry_lags",
                              .title = "Power sensors aligned with the trace",
                              .show = report.lags.empty() ? Show::kDataOnly : Show::kEverywhere});
  table.add(keys::gpu, &TelemetryLag::gpu)
      .add(keys::file,
           [](const TelemetryLag& lag) { return lag.file.empty() ? Value() : Value(lag.file); })
      .add(keys::device, &TelemetryLag::device)
      .add(keys::placed, placed_words, elastic())
      .add(keys::lag_ns, of_fit(&TelemetryLag::lag_ns))
      .add(keys::delay_low_ns, of_fit(&TelemetryLag::lag_low_ns))
      .add(keys::delay_high_ns, of_fit(&TelemetryLag::lag_high_ns))
      .add(keys::averaged_ns, of_fit(&TelemetryLag::window_ns))
      .add(keys::ramp_ns, of_fit(&TelemetryLag::ramp_ns))
      .add(keys::explained, [](const TelemetryLag& lag) {
        return lag.unknown.empty() ? Value(lag.explained) : Value();
      });
  return table;
}

// ---- cores ----

void add_cpu(const CpuActivity& cpu, Section& section) {
  const bool told = !cpu.cores.empty();
  const size_t physical = cpu.cores.size();
  const auto share = [](size_t part, size_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNan;
  };
  section.blocks.push_back(Facts{
      .key = "cpu",
      .title = "Cores while the trace ran",
      .items = {fact(keys::samples, cpu.moments.size()), fact(keys::period_ns, cpu.period_ns),
                fact(keys::logical_cores, cpu.logical),
                fact(keys::physical_cores, told ? Value(physical) : Value(),
                     told ? "" : "the log does not record the topology"),
                fact(keys::active_cores_median, cpu.active.median,
                     fmt::format("{:g} to {:g}", cpu.active.min, cpu.active.max)),
                data_fact(keys::active_cores_min, cpu.active.min),
                data_fact(keys::active_cores_max, cpu.active.max),
                fact(keys::min_cores_median, cpu.min_cores.median,
                     fmt::format("{:.3g} to {:.3g}", cpu.min_cores.min, cpu.min_cores.max)),
                data_fact(keys::min_cores_min, cpu.min_cores.min),
                data_fact(keys::min_cores_max, cpu.min_cores.max),
                fact(keys::utilization_share, cpu.utilization),
                fact(keys::physical_cores_used, told ? Value(cpu.cores_used) : Value()),
                fact(keys::physical_cores_used_share,
                     told ? Value(share(cpu.cores_used, physical)) : Value()),
                fact(keys::both_siblings_share, told ? Value(cpu.siblings_share) : Value())}});
  using Core = PhysicalCoreUse;
  TableOf cores(cpu.cores,
                {.key = "cpu_cores", .title = "Physical cores", .show = Show::kDataOnly});
  cores.add(keys::package, [](const Core& core) { return core.place.package; })
      .add(keys::core, [](const Core& core) { return core.place.core; })
      .add(keys::logical, &Core::logical)
      .add(keys::one_active, &Core::one)
      .add(keys::more_active, &Core::more)
      .add(keys::busy_cores, &Core::busy_cores);
  section.blocks.push_back(std::move(cores));
}

// The stride that keeps at most `most` of `count` elements.
size_t stride_of(size_t count, size_t most) {
  return std::max<size_t>(1, (count + most - 1) / most);
}

Axis time_axis() { return {.title = "time since the trace began", .unit = Unit::kNanoseconds}; }

Chart cores_chart(const TelemetryReport& report) {
  const CpuActivity& cpu = *report.cpu;
  Series active{.name = "C_active", .mark = Mark::kSteps};
  Series least{.name = "C_min", .mark = Mark::kSteps};
  const size_t stride = stride_of(cpu.moments.size(), kMostPoints);
  for (size_t i = 0; i < cpu.moments.size(); i += stride) {
    const CpuMoment& moment = cpu.moments[i];
    const auto t = static_cast<double>(moment.from_ns - report.trace.start_ns);
    active.x.push_back(t);
    active.y.push_back(moment.active);
    least.x.push_back(t);
    least.y.push_back(moment.min_cores);
  }
  return {.key = "cpu_active",
          .title = "Active cores and the least that would do (Chopper, Figure 13, top)",
          .caption = "Logical cores with any work in a sample, and their utilisation added up.",
          .x = time_axis(),
          .y = {.title = "logical cores", .unit = Unit::kNone},
          .series = {std::move(active), std::move(least)},
          .guides = {{Guide::Across::kY, cpu.active.median, "C_active, median"},
                     {Guide::Across::kY, cpu.min_cores.median, "C_min, median"}}};
}

Chart siblings_chart(const TelemetryReport& report) {
  const CpuActivity& cpu = *report.cpu;
  Series one{.name = "one sibling active", .mark = Mark::kPoints};
  Series more{.name = "two or more active", .mark = Mark::kPoints};
  const size_t stride = stride_of(cpu.moments.size(), kMostHeatMoments);
  for (size_t i = 0; i < cpu.moments.size(); i += stride) {
    for (size_t c = 0; c < cpu.cores.size(); ++c) {
      const uint8_t busy = cpu.active_siblings[i * cpu.cores.size() + c];
      if (busy == 0) continue;
      Series& series = busy == 1 ? one : more;
      series.x.push_back(static_cast<double>(cpu.moments[i].t_ns - report.trace.start_ns));
      series.y.push_back(static_cast<double>(c));
    }
  }
  return {.key = "cpu_siblings",
          .title = "Logical cores on physical ones (Chopper, Figure 13, bottom)",
          .caption = "A point where a physical core had work in a sample.",
          .x = time_axis(),
          .y = {.title = "physical core", .unit = Unit::kNone},
          .series = {std::move(one), std::move(more)}};
}

// Mean over GPUs, with a band from the minimum to the maximum.
Series over_gpus(const TelemetryReport& report, TelemetrySignal signal, const char* name) {
  Series series{.name = name, .mark = Mark::kLine};
  const std::vector<GpuMoment> moments = gpu_moments(report, signal);
  const size_t stride = stride_of(moments.size(), kMostPoints);
  const bool band = std::any_of(moments.begin(), moments.end(),
                                [](const GpuMoment& moment) { return moment.gpus > 1; });
  for (size_t i = 0; i < moments.size(); i += stride) {
    series.x.push_back(static_cast<double>(moments[i].t_ns - report.trace.start_ns));
    series.y.push_back(moments[i].mean);
    if (!band) continue;
    series.low.push_back(moments[i].min);
    series.high.push_back(moments[i].max);
  }
  return series;
}

void add_track_charts(const TelemetryReport& report, Section& section) {
  Chart clocks{.key = "telemetry_clocks",
               .title = "GPU and memory clock, mean over GPUs (Chopper, Figure 14)",
               .caption = "The band reaches from the lowest to the highest GPU.",
               .x = time_axis(),
               .y = {.title = "MHz", .unit = Unit::kNone}};
  for (const auto& [signal, name] : {std::pair{TelemetrySignal::kSmClock, "GPU clock"},
                                     std::pair{TelemetrySignal::kMemoryClock, "memory clock"}}) {
    Series series = over_gpus(report, signal, name);
    if (!series.x.empty()) clocks.series.push_back(std::move(series));
  }
  if (!clocks.series.empty()) section.blocks.push_back(std::move(clocks));
  Series power = over_gpus(report, TelemetrySignal::kPower, "power");
  if (power.x.empty()) return;
  section.blocks.push_back(Chart{.key = "telemetry_power",
                                 .title = "Power, mean over GPUs (Chopper, Figure 14)",
                                 .caption = "As the sensor reads it, with its own window.",
                                 .x = time_axis(),
                                 .y = {.title = "power", .unit = Unit::kWatts},
                                 .series = {std::move(power)}});
}

// ---- words ----

// With few samples, reports them as such, because their median does not describe the run.
std::string few_cpu_words(const CpuActivity& cpu) {
  const size_t n = cpu.moments.size();
  const std::string spread =
      n > 1 ? fmt::format(" (median; {:g} to {:g})", cpu.active.min, cpu.active.max) : "";
  return fmt::format(
      "Only {} of the cores {} in the trace, too few to know how many are active at once. {:g} of "
      "{} logical cores were{}, and {:.3g} would have done.",
      format_counted(n, "sample", "samples"), n == 1 ? "lies" : "lie", cpu.active.median,
      cpu.logical, spread, cpu.min_cores.median);
}

std::string cpu_words(const CpuActivity& cpu) {
  if (cpu.moments.size() < kFewSamples) return few_cpu_words(cpu);
  std::string words = fmt::format(
      "Of {} logical cores {:g} are active at once (median of {}; {:g} to {:g}), and {:.3g} would "
      "do.",
      cpu.logical, cpu.active.median, format_counted(cpu.moments.size(), "sample", "samples"),
      cpu.active.min, cpu.active.max, cpu.min_cores.median);
  if (!cpu.cores.empty()) {
    words += fmt::format(
        " {} of {} physical cores ever work; {} of the active ones have two "
        "siblings active.",
        cpu.cores_used, cpu.cores.size(), format_share(cpu.siblings_share));
  }
  return words;
}

// Smallest and largest weighted value over all iterations.
std::string iteration_words(const TelemetryReport& report, const SignalWords& signal) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double error = 0;
  uint64_t fewest = UINT64_MAX;
  bool modelled = false;
  for (const TelemetryRow& row : report.rows) {
    const SampledValue* value = find(row, signal.signal);
    if (row.level != TelemetryLevel::kIteration || value == nullptr) continue;
    if (value->how != SampledHow::kWeighted && value->how != SampledHow::kModelled) continue;
    modelled |= value->how == SampledHow::kModelled;
    low = std::min(low, value->value);
    high = std::max(high, value->value);
    error = std::max(error, (value->high - value->low) / 2);
    fewest = std::min(fewest, value->samples);
  }
  if (low > high) return "";
  const std::string range =
      high - low < 0.5 ? fmt::format("{:.{}f}", low, signal.digits)
                       : fmt::format("{:.{}f} to {:.{}f}", low, signal.digits, high, signal.digits);
  if (modelled) {
    return fmt::format("{} {} {} per iteration (95 %: ±{:.{}f} at most)", signal.title, range,
                       signal.unit, error, signal.digits);
  }
  return fmt::format("{} {} {} per iteration (sampling error at most {:.{}f}; {} or more each{})",
                     signal.title, range, signal.unit, error, signal.digits,
                     format_counted(fewest, "sample", "samples"),
                     fewest < kFewSamples ? ": few" : "");
}

}  // namespace

std::vector<std::string> telemetry_words(const TelemetryReport& report) {
  std::vector<std::string> words;
  if (report.cpu) words.push_back(cpu_words(*report.cpu));
  std::string sentence;
  for (const SignalWords& signal : kSignalWords) {
    if (signal.signal != TelemetrySignal::kSmClock && signal.signal != TelemetrySignal::kPower) {
      continue;
    }
    const std::string part = iteration_words(report, signal);
    if (!part.empty()) sentence += (sentence.empty() ? "" : "; ") + part;
  }
  if (!sentence.empty()) words.push_back("During the trace: " + sentence + ".");
  for (const TelemetryLag& lag : report.lags) {
    if (!lag.beyond_sensor) continue;
    words.push_back(fmt::format(
        "By its power the log of GPU {} lies {} ({} to {}) {} the trace: values were taken there.",
        lag.gpu, format_ns(std::abs(lag.lag_ns)),
        format_ns(std::min(std::abs(lag.lag_low_ns), std::abs(lag.lag_high_ns))),
        format_ns(std::max(std::abs(lag.lag_low_ns), std::abs(lag.lag_high_ns))),
        lag.lag_ns > 0 ? "behind" : "ahead of"));
  }
  const auto too_short =
      std::count_if(report.rows.begin(), report.rows.end(), [](const TelemetryRow& row) {
        return !row.values.empty() &&
               std::all_of(row.values.begin(), row.values.end(), [](const SampledValue& value) {
                 return value.how == SampledHow::kBracket || value.how == SampledHow::kNone;
               });
      });
  if (too_short > 0) {
    words.push_back(
        fmt::format("{} of {} iterations, phases and operations are too short for the samples: "
                    "only the range of the samples around them is given.",
                    too_short, report.rows.size()));
  }
  return words;
}

void add_breakdown_telemetry(const TelemetryReport& report, Section& section) {
  if (report.cpu) {
    add_cpu(*report.cpu, section);
    section.blocks.push_back(cores_chart(report));
    if (!report.cpu->cores.empty()) section.blocks.push_back(siblings_chart(report));
  }
  for (const TelemetryLevel level :
       {TelemetryLevel::kIteration, TelemetryLevel::kPhase, TelemetryLevel::kOperation}) {
    section.blocks.push_back(reader_table(report, level));
  }
  add_track_charts(report, section);
  section.blocks.push_back(data_table(report));
  section.blocks.push_back(files_table(report));
  section.blocks.push_back(lags_table(report));
}

}  // namespace assay
