#include "breakdown/telemetry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/stats.h"

namespace assay {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
// A sample represents at most this share of a period on either side; longer gaps have no samples.
constexpr double kReach = 0.75;
constexpr double kNormal95 = 1.959963984540054;
constexpr uint64_t kFewHits = 5;
constexpr double kLeastCoverage = 0.5;

TelemetrySignal signal_of(TelemetryQuantity quantity) {
  switch (quantity) {
    case TelemetryQuantity::kSmClock:
      return TelemetrySignal::kSmClock;
    case TelemetryQuantity::kMemoryClock:
      return TelemetrySignal::kMemoryClock;
    case TelemetryQuantity::kPower:
      return TelemetrySignal::kPower;
    case TelemetryQuantity::kGpuUtil:
      return TelemetrySignal::kGpuUtil;
    case TelemetryQuantity::kMemoryUtil:
      return TelemetrySignal::kMemoryUtil;
    case TelemetryQuantity::kMemoryUsed:
      return TelemetrySignal::kMemoryUsed;
    case TelemetryQuantity::kTemperature:
      return TelemetrySignal::kTemperature;
    case TelemetryQuantity::kCpuPower:
      break;
  }
  return TelemetrySignal::kCpuPower;
}

// True if samples of the signal are instantaneous, so that a sample inside a short interval is
// valid for it. Power and load are averages by the driver over an unknown time.
bool of_the_moment(TelemetrySignal signal) {
  return signal == TelemetrySignal::kSmClock || signal == TelemetrySignal::kMemoryClock ||
         signal == TelemetrySignal::kTemperature || signal == TelemetrySignal::kMemoryUsed;
}

int64_t median_step(const std::vector<int64_t>& t_ns) {
  std::vector<int64_t> steps;
  for (size_t i = 1; i < t_ns.size(); ++i) steps.push_back(t_ns[i] - t_ns[i - 1]);
  std::sort(steps.begin(), steps.end());
  return steps.empty() ? 0 : std::llround(quantile_sorted(steps, 0.5));
}

// ---- alignment of a log with the trace's time ----

// First and last time of all samples.
std::optional<Interval> span_of(const TelemetryLog& log) {
  std::optional<Interval> span;
  const auto extend = [&span](const std::vector<int64_t>& t_ns) {
    if (t_ns.empty()) return;
    if (!span) span = Interval{t_ns.front(), t_ns.back()};
    span->start_ns = std::min(span->start_ns, t_ns.front());
    span->end_ns = std::max(span->end_ns, t_ns.back());
  };
  for (const TelemetrySeries& series : log.series) extend(series.t_ns);
  extend(log.cpu.from_ns);
  extend(log.cpu.t_ns);
  return span;
}

std::string zone_words(int64_t zone_ns) {
  if (zone_ns == 0) return "UTC";
  const int64_t minutes = std::abs(zone_ns) / (60 * kSecond);
  const auto two = [](int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return std::string("UTC") + (zone_ns < 0 ? "-" : "+") + two(minutes / 60) + ":" +
         two(minutes % 60);
}

// Sets the description of the log's clock and the offset to the trace's time.
Status place_clock(const TelemetryLog& log, const TelemetryOptions& options, int64_t first_work_ns,
                   TelemetryFile& file) {
  file.offset_ns = options.offset_ns;
  switch (log.clock) {
    case LogClock::kEpoch:
      file.clock = "since 1970";
      break;
    case LogClock::kLocalTime:
      file.clock = "local time, read as " + zone_words(options.zone_ns);
      file.offset_ns -= options.zone_ns;
      break;
    case LogClock::kTimeOfDay:
      file.clock = "time of day without a date";
      break;
    case LogClock::kUnknownOrigin:
      file.clock = "a clock of unknown origin";
      break;
  }
  if (options.at_start) {
    file.offset_ns = first_work_ns - span_of(log).value_or(Interval{}).start_ns;
    return Ok{};
  }
  const bool wall = log.clock == LogClock::kEpoch || log.clock == LogClock::kLocalTime;
  if (wall || options.offset_told) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "its times are " + file.clock +
                   ", which cannot be aligned with a trace. Give --telemetry-offset: SECONDS to "
                   "add to them, or 'start' if the log begins with the trace's first GPU activity",
               log.path, -1};
}

std::vector<int64_t> moved(std::vector<int64_t> t_ns, int64_t by_ns) {
  for (int64_t& t : t_ns) t += by_ns;
  return t_ns;
}

void add_cpu_tracks(const CpuUtilization& cpu, PlacedTelemetry& placed) {
  TelemetryTrack active;
  active.signal = TelemetrySignal::kActiveCores;
  active.host = active.mean = true;
  active.from_ns = cpu.from_ns;
  active.t_ns = cpu.t_ns;
  active.period_ns = median_step(cpu.t_ns);
  TelemetryTrack least = active;
  least.signal = TelemetrySignal::kMinCores;
  const size_t cpus = cpu.cpus.size();
  for (size_t i = 0; i < cpu.t_ns.size(); ++i) {
    const float* percent = cpu.percent.data() + i * cpus;
    active.value.push_back(active_cores(percent, cpus));
    least.value.push_back(min_cores(percent, cpus));
  }
  placed.tracks.push_back(std::move(active));
  placed.tracks.push_back(std::move(least));
}

void add_notes(const TelemetryLog& log, NoteList& notes) {
  const std::string of = " (" + log.path + ")";
  notes.add("telemetry_cells_without_value", log.cells_without_value, 0, "telemetry",
            "cells of the log that hold no number were left out" + of);
  notes.add("telemetry_ticks_missed", log.ticks_missed, 0, "telemetry, cpu",
            "samples that a late sampler missed: that time has no value" + of);
  notes.add("telemetry_rows_cut", log.rows_cut, 0, "telemetry",
            "the last line has no end and was left out" + of);
  notes.add("telemetry_rows_unplaced", log.rows_unplaced, 0, "telemetry",
            "rows of several GPUs without a column for the GPU: those in rounds with lost rows "
            "that fit several GPUs were left out" +
                of);
  notes.add("telemetry_rows_out_of_order", log.rows_out_of_order, 0, "telemetry",
            "rows earlier than the one before, by under a second: sorted" + of);
  notes.add("telemetry_clock_steps", log.clock_steps, 0, "telemetry, cpu",
            "the wall clock was set while the log ran: " + std::to_string(log.rows_beyond_steps) +
                " rows outside the longest part between two steps were left out" + of);
  notes.add("telemetry_unfinished", log.unfinished ? 1 : 0, 0, "telemetry",
            "the sampler did not come to its end: missed ticks are not known" + of);
  notes.add("telemetry_truncated", log.truncated ? 1 : 0, 0, "telemetry",
            "the compressed log ends early" + of);
}

std::string seconds(int64_t ns) {
  const bool negative = ns < 0;
  const std::string ms = std::to_string(std::abs(ns) % kSecond / 1'000'000);
  return (negative ? "-" : "") + std::to_string(std::abs(ns) / kSecond) + "." +
         std::string(3 - ms.size(), '0') + ms + " s";
}

// ---- cells: the time that each sample represents ----

class Cells {
 public:
  explicit Cells(const TelemetryTrack& track) : track_(track) {
    reach_ns_ = std::llround(kReach * static_cast<double>(track.period_ns));
  }
  size_t size() const { return track_.t_ns.size(); }
  Interval at(size_t i) const {
    const std::vector<int64_t>& t = track_.t_ns;
    if (track_.mean) return {track_.from_ns[i], t[i]};
    int64_t begin = t[i] - reach_ns_;
    int64_t end = t[i] + reach_ns_;
    if (i > 0) begin = std::max(begin, t[i - 1] + (t[i] - t[i - 1]) / 2);
    if (i + 1 < t.size()) end = std::min(end, t[i] + (t[i + 1] - t[i]) / 2);
    return {begin, end};
  }
  // Variance of the value over the sample's interval, estimated from the differences to its
  // neighbours: a local version of the successive-difference estimator for systematic sampling
  // (Wolter, Introduction to Variance Estimation, 2nd ed., section 8.2).
  double variance(size_t i) const {
    const std::vector<double>& v = track_.value;
    double sum = 0;
    int n = 0;
    for (const auto& [a, b] : {std::pair{i, i - 1}, std::pair{i + 1, i}}) {
      if (a == 0 || a >= v.size()) continue;
      sum += (v[a] - v[b]) * (v[a] - v[b]) / 2;
      ++n;
    }
    return n > 0 ? sum / n : std::numeric_limits<double>::infinity();
  }

 private:
  const TelemetryTrack& track_;
  int64_t reach_ns_ = 0;
};

// Overlap of intervals with merged ones; query them in ascending order.
class Overlap {
 public:
  explicit Overlap(const std::vector<Interval>& merged) : merged_(merged) {}
  int64_t with(Interval cell) {
    while (next_ < merged_.size() && merged_[next_].end_ns <= cell.start_ns) ++next_;
    int64_t sum = 0;
    for (size_t i = next_; i < merged_.size() && merged_[i].start_ns < cell.end_ns; ++i) {
      sum +=
          std::min(merged_[i].end_ns, cell.end_ns) - std::max(merged_[i].start_ns, cell.start_ns);
    }
    return sum;
  }

 private:
  const std::vector<Interval>& merged_;
  size_t next_ = 0;
};

bool in_any(const std::vector<Interval>& merged, int64_t t) {
  const auto after = std::upper_bound(
      merged.begin(), merged.end(), t,
      [](int64_t time, const Interval& interval) { return time < interval.start_ns; });
  return after != merged.begin() && t < std::prev(after)->end_ns;
}

int64_t longest_of(const std::vector<Interval>& merged) {
  int64_t longest = 0;
  for (const Interval& one : merged) longest = std::max(longest, one.end_ns - one.start_ns);
  return longest;
}

// Weighted sums of the samples that overlap the intervals.
struct Weights {
  double time = 0;
  double value = 0;     // time-weighted sum
  double variance = 0;  // of that sum
  std::vector<double> hits;
  uint64_t reaching = 0;
  bool exact = true;        // all are means over periods wholly inside the intervals
  size_t first = SIZE_MAX;  // first sample that overlaps
  size_t last = 0;
};

Weights weigh(const TelemetryTrack& track, const std::vector<Interval>& merged) {
  Weights sums;
  const Cells cells(track);
  Overlap overlap(merged);
  const auto begin = std::lower_bound(track.t_ns.begin(), track.t_ns.end(),
                                      merged.front().start_ns - 2 * track.period_ns);
  for (auto i = static_cast<size_t>(begin - track.t_ns.begin()); i < cells.size(); ++i) {
    const Interval cell = cells.at(i);
    if (cell.start_ns >= merged.back().end_ns) break;
    const int64_t common = overlap.with(cell);
    if (common <= 0) continue;
    const auto weight = static_cast<double>(common);
    sums.time += weight;
    sums.value += weight * track.value[i];
    // A mean is exact over its whole period. For a part of it, and for an instantaneous sample, it
    // is an estimate.
    const bool exact = track.mean && common == cell.end_ns - cell.start_ns;
    if (!exact) sums.variance += weight * weight * cells.variance(i);
    sums.exact = sums.exact && exact;
    if (!track.mean && in_any(merged, track.t_ns[i])) sums.hits.push_back(track.value[i]);
    ++sums.reaching;
    sums.first = std::min(sums.first, i);
    sums.last = i;
  }
  return sums;
}

// Bounds from the overlapping samples and their neighbours.
void bracket(const TelemetryTrack& track, const Weights& sums, SampledValue& result) {
  result.how = SampledHow::kBracket;
  const size_t begin = sums.first > 0 ? sums.first - 1 : 0;
  const size_t end = std::min(sums.last + 2, track.value.size());
  const auto [low, high] =
      std::minmax_element(track.value.begin() + static_cast<std::ptrdiff_t>(begin),
                          track.value.begin() + static_cast<std::ptrdiff_t>(end));
  result.low = *low;
  result.high = *high;
}

// ---- groups of intervals ----

struct GpuOpKey {
  int64_t gpu = 0;
  LevelPhase phase = LevelPhase::kNone;
  uint32_t op = 0;
  friend auto operator<=>(const GpuOpKey&, const GpuOpKey&) = default;
};

// Runs of consecutive compute kernels with the same key, from the first start to the last end.
// `with_op`: the operation is part of the key.
std::map<GpuOpKey, std::vector<Interval>> runs_of(const BreakdownReport& report, bool with_op) {
  std::map<GpuOpKey, std::vector<Interval>> runs;
  const KernelLevel* before = nullptr;
  std::vector<Interval>* open = nullptr;
  for (const KernelLevel& row : report.rows) {
    if (!row.compute) continue;
    const bool same = before != nullptr && before->gpu == row.gpu && before->phase == row.phase &&
                      before->window == row.window && (!with_op || before->op == row.op);
    before = &row;
    const bool known = with_op ? row.op != 0 : row.phase != LevelPhase::kNone;
    if (!known) {
      open = nullptr;
      continue;
    }
    if (same && open != nullptr) {
      open->back().end_ns = std::max(open->back().end_ns, row.t_ke_ns);
      continue;
    }
    open = &runs[{row.gpu, row.phase, with_op ? row.op : 0}];
    open->push_back({row.t_ks_ns, row.t_ke_ns});
  }
  for (auto& [key, intervals] : runs) intervals = merge_intervals(std::move(intervals));
  return runs;
}

// Device of the log that corresponds to a GPU of the trace; nullopt if there is none.
std::optional<std::string> log_device(const PlacedTelemetry& placed, int64_t gpu, bool only_gpu,
                                      const TelemetryOptions& options) {
  const auto told = options.device_of.find(gpu);
  if (told != options.device_of.end()) {
    for (const TelemetryDevice& device : placed.devices) {
      if (told->second == device.device || told->second == device.uuid) return device.device;
    }
    return std::nullopt;
  }
  if (placed.devices.size() == 1 && only_gpu) return placed.devices.front().device;
  for (const TelemetryDevice& device : placed.devices) {
    if (device.index == gpu) return device.device;
  }
  return std::nullopt;
}

// Widens the error of the power of intervals. The sensor's window and delay are unknown, so within
// kEdgeNs of each end the power may equal any surrounding sample.
void add_edges(const TelemetryTrack& track, const std::vector<Interval>& merged,
               SampledValue& value) {
  constexpr int64_t kEdgeNs = kSecond / 2;
  if (value.how != SampledHow::kWeighted) return;
  const double share =
      std::min(1.0, static_cast<double>(kEdgeNs) * static_cast<double>(merged.size()) /
                        static_cast<double>(length_ns(merged)));
  SampledValue around;
  bracket(track, weigh(track, merged), around);
  value.low = std::max(0.0, value.low - share * std::max(0.0, value.value - around.low));
  value.high += share * std::max(0.0, around.high - value.value);
}

std::vector<Interval> moved(std::vector<Interval> intervals, int64_t by_ns) {
  for (Interval& one : intervals) one = {one.start_ns + by_ns, one.end_ns + by_ns};
  return intervals;
}

// late_ns: delay of the device's log.
TelemetryRow make_row(TelemetryLevel level, int64_t gpu, std::vector<Interval> merged,
                      const PlacedTelemetry& placed, const std::optional<std::string>& device,
                      int64_t late_ns) {
  TelemetryRow row;
  row.level = level;
  row.gpu = gpu;
  row.intervals = merged.size();
  row.time_ns = length_ns(merged);
  row.longest_ns = longest_of(merged);
  const std::vector<Interval> in_log = moved(merged, late_ns);
  for (const TelemetryTrack& track : placed.tracks) {
    if (!track.host && !(device && track.device == *device)) continue;
    const std::vector<Interval>& read = track.host ? merged : in_log;
    row.values.push_back(sample_intervals(track, read));
    if (track.signal == TelemetrySignal::kPower) add_edges(track, read, row.values.back());
  }
  row.merged = std::move(merged);
  return row;
}

Spread spread_of(std::vector<double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {median(values), *low, *high};
}

}  // namespace

std::string_view telemetry_signal_name(TelemetrySignal signal) {
  constexpr std::array<std::string_view, kTelemetrySignals> kNames = {
      "sm_clock_mhz",        "memory_clock_mhz",  "power_w",       "gpu_util_percent",
      "memory_util_percent", "memory_used_bytes", "temperature_c", "cpu_power_w",
      "active_cores",        "min_cores"};
  return kNames[static_cast<size_t>(signal)];
}

std::string_view sampled_how_name(SampledHow how) {
  constexpr std::array<std::string_view, 5> kNames = {"modelled", "weighted", "hits", "bracket",
                                                      "none"};
  return kNames[static_cast<size_t>(how)];
}

std::string_view telemetry_level_name(TelemetryLevel level) {
  constexpr std::array<std::string_view, 3> kNames = {"iteration", "phase", "operation"};
  return kNames[static_cast<size_t>(level)];
}

Result<PlacedTelemetry> place_telemetry(const std::vector<TelemetryLog>& logs,
                                        const TelemetryOptions& options, int64_t first_work_ns) {
  PlacedTelemetry placed;
  NoteList notes;
  for (const TelemetryLog& log : logs) {
    TelemetryFile file{log.path, log.format, {}, 0, {}, log.rows};
    ASSAY_TRY(place_clock(log, options, first_work_ns, file));
    const Interval span = span_of(log).value_or(Interval{});
    file.span = {span.start_ns + file.offset_ns, span.end_ns + file.offset_ns};
    for (const TelemetrySeries& series : log.series) {
      TelemetryTrack track;
      track.signal = signal_of(series.quantity);
      track.device = series.device;
      track.host = series.quantity == TelemetryQuantity::kCpuPower;
      track.t_ns = moved(series.t_ns, file.offset_ns);
      track.value = series.value;
      track.period_ns = median_step(track.t_ns);
      if (log.taken_for_one && !track.host) track.undivided = log.path;
      placed.tracks.push_back(std::move(track));
    }
    for (const TelemetryDevice& device : log.devices) {
      const bool known =
          std::any_of(placed.devices.begin(), placed.devices.end(),
                      [&](const TelemetryDevice& one) { return one.device == device.device; });
      if (!known) placed.devices.push_back(device);
    }
    if (placed.cpu.t_ns.empty() && !log.cpu.t_ns.empty()) {
      placed.cpu = log.cpu;
      placed.cpu.from_ns = moved(std::move(placed.cpu.from_ns), file.offset_ns);
      placed.cpu.t_ns = moved(std::move(placed.cpu.t_ns), file.offset_ns);
      placed.cores = log.cores;
      add_cpu_tracks(placed.cpu, placed);
    }
    add_notes(log, notes);
    notes.add("telemetry_offset_assumed", options.at_start ? 1 : 0, 0, "telemetry, cpu",
              "aligned so that its first sample is at the trace's first GPU activity. Nothing in "
              "the files supports this assumption, and every value per interval needs it (" +
                  log.path + ")");
    placed.files.push_back(std::move(file));
  }
  placed.trust = notes.take();
  return placed;
}

Status check_telemetry_overlap(const PlacedTelemetry& placed, Interval trace) {
  constexpr int64_t kQuarter = 900 * kSecond;
  constexpr int64_t kMostQuarters = 14 * 4;
  for (const TelemetryFile& file : placed.files) {
    const Interval log = file.span;
    if (log.start_ns < trace.end_ns && trace.start_ns < log.end_ns) continue;
    const int64_t apart = trace.start_ns - log.start_ns;
    const int64_t quarters = std::llround(static_cast<double>(apart) / kQuarter);
    const int64_t shift = quarters * kQuarter;
    const bool zone = quarters != 0 && std::abs(quarters) <= kMostQuarters &&
                      log.start_ns + shift < trace.end_ns && trace.start_ns < log.end_ns + shift;
    std::string message = "the log and the trace have no moment in common: the log (" + file.clock +
                          ") spans " + seconds(log.start_ns) + " to " + seconds(log.end_ns) +
                          ", the trace " + seconds(trace.start_ns) + " to " +
                          seconds(trace.end_ns) +
                          "; --telemetry-offset SECONDS lays one over the other";
    if (zone) {
      message += "; they would meet with --telemetry-zone " + zone_words(-shift).substr(3) +
                 ", as if the log were in that time zone";
    }
    return Error{ErrorCode::kInvalidArgument, message, file.path, -1};
  }
  return Ok{};
}

SampledValue sample_intervals(const TelemetryTrack& track, const std::vector<Interval>& merged) {
  SampledValue result;
  result.signal = track.signal;
  if (merged.empty() || track.t_ns.empty()) return result;
  const Weights sums = weigh(track, merged);
  result.samples = track.mean ? sums.reaching : sums.hits.size();
  result.coverage_share = sums.time / static_cast<double>(length_ns(merged));
  if (sums.reaching == 0) return result;
  const bool several = sums.reaching >= 2 || sums.exact;
  if (several && longest_of(merged) >= track.period_ns && result.coverage_share >= kLeastCoverage) {
    const double error = std::sqrt(sums.variance) / sums.time;
    if (std::isfinite(error)) {
      result.how = SampledHow::kWeighted;
      result.value = sums.value / sums.time;
      result.low = result.value - kNormal95 * error;
      result.high = result.value + kNormal95 * error;
      return result;
    }
  }
  if (of_the_moment(track.signal) && sums.hits.size() >= kFewHits) {
    const MeanInterval mean = mean_interval95(sums.hits);
    result.how = SampledHow::kHits;
    result.value = mean.mean;
    result.low = mean.low;
    result.high = mean.high;
    return result;
  }
  bracket(track, sums, result);
  return result;
}

const TelemetryTrack* gpu_track(const PlacedTelemetry& placed, TelemetrySignal signal, int64_t gpu,
                                bool only_gpu, const TelemetryOptions& options) {
  const std::optional<std::string> device = log_device(placed, gpu, only_gpu, options);
  if (!device) return nullptr;
  for (const TelemetryTrack& track : placed.tracks) {
    const bool readings = track.signal == signal && !track.host && !track.mean;
    if (readings && track.device == *device) return &track;
  }
  return nullptr;
}

const TelemetryTrack* power_track(const PlacedTelemetry& placed, int64_t gpu, bool only_gpu,
                                  const TelemetryOptions& options) {
  return gpu_track(placed, TelemetrySignal::kPower, gpu, only_gpu, options);
}

std::vector<TelemetryRow> telemetry_rows(const BreakdownReport& report,
                                         const PlacedTelemetry& placed,
                                         const TelemetryOptions& options, TrustNotes& notes) {
  std::vector<TelemetryRow> rows;
  std::map<int64_t, std::optional<std::string>> devices;
  NoteList list;
  for (const GpuExtent& extent : report.extents) {
    devices[extent.gpu] = log_device(placed, extent.gpu, report.extents.size() == 1, options);
    const bool missing = !devices[extent.gpu] && !placed.devices.empty();
    list.add("telemetry_gpu_unmatched", missing ? 1 : 0, 0, "telemetry",
             "no log is of GPU " + std::to_string(extent.gpu) +
                 " by number: --telemetry-gpu GPU=DEVICE says which one is");
  }
  const auto late_ns = [&options](int64_t gpu) {
    const auto found = options.late_ns.find(gpu);
    return found == options.late_ns.end() ? 0 : found->second;
  };
  for (const LevelSpan& span : report.spans) {
    if (span.iter == kNoIteration || span.span_ns <= 0) continue;
    rows.push_back(make_row(TelemetryLevel::kIteration, span.gpu,
                            {{span.start_ns, span.start_ns + span.span_ns}}, placed,
                            devices[span.gpu], late_ns(span.gpu)));
    rows.back().iter = span.iter;
  }
  for (const bool with_op : {false, true}) {
    for (auto& [key, merged] : runs_of(report, with_op)) {
      rows.push_back(make_row(with_op ? TelemetryLevel::kOperation : TelemetryLevel::kPhase,
                              key.gpu, std::move(merged), placed, devices[key.gpu],
                              late_ns(key.gpu)));
      rows.back().phase = key.phase;
      if (with_op) rows.back().op = report.op_names[key.op];
    }
  }
  for (TrustNote& note : list.take()) notes.push_back(std::move(note));
  return rows;
}

int active_cores(const float* percent, size_t cpus) {
  return static_cast<int>(std::count_if(percent, percent + cpus, [](float p) { return p > 0; }));
}

double min_cores(const float* percent, size_t cpus) {
  double sum = 0;
  for (size_t i = 0; i < cpus; ++i) {
    if (!std::isnan(percent[i])) sum += static_cast<double>(percent[i]) / 100;
  }
  return sum;
}

// Maps each logical CPU to its index in activity.cores, which this fills; empty if the topology is
// incomplete.
std::vector<size_t> find_cores(const PlacedTelemetry& placed, CpuActivity& activity) {
  std::map<std::pair<int, int>, size_t> index;
  std::vector<size_t> core_of;
  for (const CpuCorePlace& place : placed.cores) {
    if (place.core < 0) break;
    const auto [at, is_new] =
        index.emplace(std::pair(place.package, place.core), activity.cores.size());
    if (is_new) activity.cores.push_back({place, 0, 0, 0, 0});
    ++activity.cores[at->second].logical;
    core_of.push_back(at->second);
  }
  if (core_of.size() == activity.logical) return core_of;
  activity.cores.clear();
  return {};
}

// Adds the activity of the cores in one period; `percent` is per logical CPU.
void add_cores(const float* percent, const std::vector<size_t>& core_of, CpuMoment& moment,
               CpuActivity& activity) {
  std::vector<uint8_t> busy(activity.cores.size());
  for (size_t c = 0; c < core_of.size(); ++c) {
    if (!(percent[c] > 0)) continue;
    if (busy[core_of[c]] < UINT8_MAX) ++busy[core_of[c]];
    activity.cores[core_of[c]].busy_cores += static_cast<double>(percent[c]) / 100;
  }
  for (size_t c = 0; c < busy.size(); ++c) {
    moment.one_sibling += busy[c] == 1 ? 1 : 0;
    moment.siblings += busy[c] > 1 ? 1 : 0;
    activity.cores[c].one += busy[c] == 1 ? 1 : 0;
    activity.cores[c].more += busy[c] > 1 ? 1 : 0;
  }
  activity.active_siblings.insert(activity.active_siblings.end(), busy.begin(), busy.end());
}

// Computes totals from the moments.
void sum_up(CpuActivity& activity) {
  std::vector<double> active;
  std::vector<double> least;
  double busy_ns = 0;
  double all_ns = 0;
  uint64_t active_physical = 0;
  uint64_t active_siblings = 0;
  for (const CpuMoment& moment : activity.moments) {
    active_physical += static_cast<uint64_t>(moment.one_sibling + moment.siblings);
    active_siblings += static_cast<uint64_t>(moment.siblings);
    const auto length = static_cast<double>(moment.t_ns - moment.from_ns);
    busy_ns += length * moment.min_cores;
    all_ns += length * static_cast<double>(activity.logical);
    active.push_back(moment.active);
    least.push_back(moment.min_cores);
  }
  activity.active = spread_of(std::move(active));
  activity.min_cores = spread_of(std::move(least));
  activity.utilization = all_ns > 0 ? busy_ns / all_ns : 0;
  for (PhysicalCoreUse& core : activity.cores) {
    activity.cores_used += core.one + core.more > 0 ? 1 : 0;
    core.busy_cores /= static_cast<double>(activity.moments.size());
  }
  activity.siblings_share = active_physical > 0 ? static_cast<double>(active_siblings) /
                                                      static_cast<double>(active_physical)
                                                : 0;
}

std::optional<CpuActivity> cpu_activity(const PlacedTelemetry& placed, Interval trace) {
  const CpuUtilization& cpu = placed.cpu;
  const size_t cpus = cpu.cpus.size();
  CpuActivity activity;
  activity.logical = cpus;
  activity.period_ns = median_step(cpu.t_ns);
  const std::vector<size_t> core_of = find_cores(placed, activity);
  for (size_t i = 0; i < cpu.t_ns.size(); ++i) {
    if (cpu.t_ns[i] <= trace.start_ns || cpu.from_ns[i] >= trace.end_ns) continue;
    const float* percent = cpu.percent.data() + i * cpus;
    CpuMoment moment{cpu.from_ns[i],           cpu.t_ns[i], active_cores(percent, cpus),
                     min_cores(percent, cpus), 0,           0};
    add_cores(percent, core_of, moment, activity);
    activity.moments.push_back(moment);
  }
  if (activity.moments.empty()) return std::nullopt;
  sum_up(activity);
  return activity;
}

void add_lag_notes(TelemetryReport& report) {
  NoteList notes;
  for (const TelemetryLag& lag : report.lags) {
    const std::string of =
        " (GPU " + std::to_string(lag.gpu) + (lag.file.empty() ? "" : " of " + lag.file) + ")";
    notes.add("telemetry_clock_off", lag.beyond_sensor ? 1 : 0, std::abs(lag.lag_ns), "telemetry",
              "by its power the log lies " + seconds(std::abs(lag.lag_ns)) +
                  (lag.lag_ns > 0 ? " behind" : " ahead of") +
                  " the trace, more than any sensor is late: values were taken where it "
                  "belongs, charts and cores were not; --telemetry-offset " +
                  seconds(-lag.lag_ns) + " moves all of it" + of);
    notes.add("telemetry_lag_ambiguous", lag.unknown.empty() && !lag.clear ? 1 : 0, 0, "telemetry",
              "the power fits the trace at several places of the log: its intervals hold all of "
              "them, other signals are where the log says" +
                  of);
    notes.add("telemetry_power_unfitted", lag.unknown.empty() ? 0 : 1, 0, "telemetry",
              "the power sensor's averaging and delay could not be found (" + lag.unknown +
                  "): power is as it was read, with all that half a second at each end may hide" +
                  of);
  }
  for (TrustNote& note : notes.take()) report.trust.push_back(std::move(note));
}

TelemetryReport summarize_telemetry(const PlacedTelemetry& placed, std::vector<TelemetryRow> rows,
                                    TrustNotes notes, Interval trace) {
  TelemetryReport report;
  report.files = placed.files;
  report.trace = trace;
  report.rows = std::move(rows);
  report.cpu = cpu_activity(placed, trace);
  report.trust = placed.trust;
  report.trust.insert(report.trust.end(), notes.begin(), notes.end());
  for (const TelemetryTrack& track : placed.tracks) {
    TelemetryTrack cut = track;
    cut.from_ns.clear();
    cut.t_ns.clear();
    cut.value.clear();
    for (size_t i = 0; i < track.t_ns.size(); ++i) {
      const int64_t from = track.mean ? track.from_ns[i] : track.t_ns[i];
      if (track.t_ns[i] < trace.start_ns || from > trace.end_ns) continue;
      if (track.mean) cut.from_ns.push_back(from);
      cut.t_ns.push_back(track.t_ns[i]);
      cut.value.push_back(track.value[i]);
    }
    if (!cut.t_ns.empty()) report.tracks.push_back(std::move(cut));
  }
  return report;
}

std::vector<GpuMoment> gpu_moments(const TelemetryReport& report, TelemetrySignal signal) {
  std::vector<const TelemetryTrack*> tracks;
  for (const TelemetryTrack& track : report.tracks) {
    if (track.signal == signal && !track.host) tracks.push_back(&track);
  }
  std::vector<GpuMoment> moments;
  if (tracks.empty()) return moments;
  const TelemetryTrack& lead = *tracks.front();
  std::vector<size_t> next(tracks.size());
  for (const int64_t t : lead.t_ns) {
    std::vector<double> values;
    for (size_t gpu = 0; gpu < tracks.size(); ++gpu) {
      // This GPU's sample of the same round: the nearest one, at most one period away.
      const std::vector<int64_t>& times = tracks[gpu]->t_ns;
      size_t& at = next[gpu];
      while (at + 1 < times.size() && std::abs(times[at + 1] - t) <= std::abs(times[at] - t)) ++at;
      if (std::abs(times[at] - t) <= lead.period_ns) values.push_back(tracks[gpu]->value[at]);
    }
    double sum = 0;
    for (const double value : values) sum += value;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    moments.push_back({t, values.size(), sum / static_cast<double>(values.size()), *low, *high});
  }
  return moments;
}

}  // namespace assay
