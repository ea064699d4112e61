#include "answers/breakdown/telemetry.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ingest/power/telemetry.h"
#include "power/attribute.h"
#include "power/written_by_one.h"

namespace assay {
namespace {

constexpr int64_t kSensorLeastLateNs = -150'000'000;  // delays outside this range are clock errors
constexpr int64_t kSensorMostLateNs = 250'000'000;
constexpr int64_t kStartWithinNs = 2'000'000'000;
constexpr double kLeastCovered = 0.5;  // share of a row that the log must cover to report its power

// First start to last end of all events in the trace.
Interval span_of(const Trace& trace) {
  Interval span{INT64_MAX, INT64_MIN};
  const auto extend = [&span](const std::vector<int64_t>& start, const std::vector<int64_t>& dur) {
    for (size_t i = 0; i < start.size(); ++i) {
      span.start_ns = std::min(span.start_ns, start[i]);
      span.end_ns = std::max(span.end_ns, start[i] + dur[i]);
    }
  };
  extend(trace.ops.start_ns, trace.ops.dur_ns);
  extend(trace.api_calls.start_ns, trace.api_calls.dur_ns);
  extend(trace.activities.start_ns, trace.activities.dur_ns);
  return span.start_ns <= span.end_ns ? span : Interval{};
}

PowerSeries series_of(const TelemetryTrack& track) {
  PowerSeries series{.device = track.device};
  for (size_t i = 0; i < track.t_ns.size(); ++i) {
    series.readings.push_back({track.t_ns[i], track.value[i]});
  }
  return series;
}

// Power of one GPU in each of its rows, from the joint model.
Result<EnergyReport> fit_power(const LoadedTrace& loaded, const TelemetryTrack& track, int64_t gpu,
                               const std::vector<TelemetryRow>& rows, bool at_start) {
  const PowerSeries series = series_of(track);
  AttributeOptions options;
  options.device = gpu;
  if (at_start) options.sensor.offset_within_ns = kStartWithinNs;
  for (const TelemetryRow& row : rows) {
    if (row.gpu == gpu) options.stretches.push_back(row.merged);
  }
  return attribute_energy(loaded.trace, loaded.links, loaded.windows, {}, series, options);
}

TelemetryLag lag_of(const Result<EnergyReport>& fit, int64_t gpu, const std::string& device) {
  TelemetryLag lag;
  lag.gpu = gpu;
  lag.device = device;
  if (!fit) {
    lag.unknown = fit.error().message;
  } else if (!fit->total_only.empty()) {
    lag.unknown = fit->total_only;
  } else if (!fit->follows) {
    lag.unknown = "its samples do not follow the kernels";
  }
  if (!lag.unknown.empty()) return lag;
  const auto whole = [](double ns) { return static_cast<int64_t>(std::llround(ns)); };
  lag.clear = fit->modes.size() <= 1;
  lag.explained = fit->explained;
  lag.lag_ns = whole(fit->lag_ns.value);
  lag.lag_low_ns = whole(fit->lag_ns.low);
  lag.lag_high_ns = whole(fit->lag_ns.high);
  lag.window_ns = whole(fit->window_ns.value);
  lag.ramp_ns = whole(fit->ramp_ns.value);
  lag.beyond_sensor =
      lag.clear && (lag.lag_high_ns < kSensorLeastLateNs || lag.lag_low_ns > kSensorMostLateNs);
  return lag;
}

// Error if no fit could attribute a log without a GPU column to this GPU.
Status check_track_early(size_t writers, const LoadedTrace& loaded, const TelemetryTrack& track,
                         int64_t gpu) {
  if (writers == 1) return Ok{};
  AttributeOptions options;
  options.device = gpu;
  return check_turns_before_fit(writers, series_of(track), loaded.trace, loaded.links, options,
                                track.undivided, "");
}

// Replaces the sampled powers of the GPU's rows by those of the fit, which are in the same order.
void put_powers(const EnergyReport& fit, int64_t gpu, std::vector<TelemetryRow>& rows) {
  size_t next = 0;
  for (TelemetryRow& row : rows) {
    if (row.gpu != gpu) continue;
    const StretchPower& power = fit.stretches[next++];
    const double covered = static_cast<double>(power.covered_ns) /
                           static_cast<double>(std::max<int64_t>(row.time_ns, 1));
    if (covered < kLeastCovered) continue;
    for (SampledValue& value : row.values) {
      if (value.signal != TelemetrySignal::kPower) continue;
      value = {.signal = TelemetrySignal::kPower,
               .how = SampledHow::kModelled,
               .value = power.mean_w,
               .low = power.low_w,
               .high = power.high_w,
               .samples = power.readings,
               .coverage_share = covered};
    }
  }
}

}  // namespace

Result<TelemetryRun> TelemetryRun::open(const TelemetryRequest& request, bool allow_truncated) {
  TelemetryRun run;
  run.options_ = request.options;
  for (const std::string& file : request.files) {
    ASSAY_TRY_ASSIGN(TelemetryLog log, read_telemetry(file, allow_truncated));
    run.logs_.push_back(std::move(log));
  }
  return run;
}

Result<std::vector<TelemetryRow>> TelemetryRun::rows_of(const LoadedTrace& loaded,
                                                        const BreakdownReport& report,
                                                        const std::string& file) {
  TrustNotes notes;
  TelemetryOptions options = options_;
  std::vector<TelemetryRow> rows = telemetry_rows(report, *placed_, options, notes);
  const bool only_gpu = report.extents.size() == 1;
  std::map<int64_t, EnergyReport> fits;
  for (const GpuExtent& extent : report.extents) {
    const TelemetryTrack* track = power_track(*placed_, extent.gpu, only_gpu, options);
    if (track == nullptr) continue;
    const size_t writers = track->undivided.empty() ? 1 : writers_in_turn(series_of(*track));
    ASSAY_TRY(check_track_early(writers, loaded, *track, extent.gpu));
    Result<EnergyReport> fit = fit_power(loaded, *track, extent.gpu, rows, options.at_start);
    TelemetryLag lag = lag_of(fit, extent.gpu, track->device);
    lag.file = file;
    if (lag.beyond_sensor) options.late_ns[extent.gpu] = lag.lag_ns;
    if (fit) ASSAY_TRY(check_written_by_one(writers, *fit, track->undivided, ""));
    if (lag.unknown.empty()) fits.emplace(extent.gpu, *std::move(fit));
    lags_.push_back(std::move(lag));
  }
  if (!options.late_ns.empty()) {
    notes.clear();
    rows = telemetry_rows(report, *placed_, options, notes);
  }
  for (const auto& [gpu, fit] : fits) put_powers(fit, gpu, rows);
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  return rows;
}

Status TelemetryRun::add(const LoadedTrace& loaded, const BreakdownReport& report,
                         const std::string& file) {
  if (!any()) return Ok{};
  const Trace& trace = loaded.trace;
  const Interval span = span_of(trace);
  if (!placed_) {
    int64_t first = span.start_ns;
    if (!trace.activities.start_ns.empty()) {
      first = *std::min_element(trace.activities.start_ns.begin(), trace.activities.start_ns.end());
    }
    ASSAY_TRY_ASSIGN(placed_, place_telemetry(logs_, options_, first));
  }
  constexpr int64_t kYear2001 = 1'000'000'000'000'000'000;
  if (!options_.offset_told && !options_.at_start && span.end_ns < kYear2001) {
    return Error{ErrorCode::kInvalidArgument,
                 "its times are not since 1970 (no baseTimeNanoseconds), so no log can be aligned "
                 "with it. Give --telemetry-offset: SECONDS to add to the log's times, or 'start'",
                 trace.source, -1};
  }
  ASSAY_TRY(check_telemetry_overlap(*placed_, span));
  ASSAY_TRY_ASSIGN(std::vector<TelemetryRow> rows, rows_of(loaded, report, file));
  for (TelemetryRow& row : rows) {
    row.file = file;
    row.merged = {};
    rows_.push_back(std::move(row));
  }
  if (!span_) span_ = span;
  span_->start_ns = std::min(span_->start_ns, span.start_ns);
  span_->end_ns = std::max(span_->end_ns, span.end_ns);
  return Ok{};
}

ClocksByGpu TelemetryRun::clocks(const BreakdownReport& report) const {
  constexpr double kMegaHertz = 1e6;
  ClocksByGpu clocks;
  if (!placed_) return clocks;
  for (const GpuExtent& extent : report.extents) {
    const TelemetryTrack* track = gpu_track(*placed_, TelemetrySignal::kSmClock, extent.gpu,
                                            report.extents.size() == 1, options_);
    if (track == nullptr || !track->undivided.empty()) continue;
    // Search backwards: the last one is of the trace that was added last.
    const auto lag = std::find_if(lags_.rbegin(), lags_.rend(),
                                  [&](const TelemetryLag& one) { return one.gpu == extent.gpu; });
    const int64_t late_ns = lag != lags_.rend() && lag->beyond_sensor ? lag->lag_ns : 0;
    ClockReadings& readings = clocks[extent.gpu];
    for (size_t i = 0; i < track->t_ns.size(); ++i) {
      readings.t_ns.push_back(track->t_ns[i] - late_ns);
      readings.hz.push_back(track->value[i] * kMegaHertz);
    }
  }
  return clocks;
}

TelemetryReport TelemetryRun::finish() {
  TelemetryReport report =
      summarize_telemetry(placed_.value_or(PlacedTelemetry{}), std::move(rows_), std::move(notes_),
                          span_.value_or(Interval{}));
  report.lags = std::move(lags_);
  add_lag_notes(report);
  return report;
}

bool TelemetryRun::data_lost() const {
  return std::any_of(logs_.begin(), logs_.end(), [](const TelemetryLog& log) {
    return log.truncated || log.rows_cut > 0 || log.clock_steps > 0;
  });
}

}  // namespace assay
