#pragma once

// CPU and GPU telemetry during a trace (Chopper, sections V-E and V-F, equations 4 and 5). Aligns
// sample logs with the trace's time, and reports clocks, power and core activity per iteration,
// phase and operation, with the sampling error. Values that the samples cannot resolve are bounded
// or omitted, never interpolated.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "base/result.h"
#include "breakdown/breakdown.h"
#include "records/telemetry.h"
#include "trace/trust.h"

namespace assay {

enum class TelemetrySignal : uint8_t {
  kSmClock,      // MHz
  kMemoryClock,  // MHz
  kPower,        // W
  kGpuUtil,      // %
  kMemoryUtil,   // %
  kMemoryUsed,   // bytes
  kTemperature,  // degrees Celsius
  kCpuPower,     // W
  kActiveCores,  // C_active, Eq. 4
  kMinCores,     // C_min, Eq. 5
};
constexpr size_t kTelemetrySignals = 10;
std::string_view telemetry_signal_name(TelemetrySignal signal);  // "sm_clock_mhz", ...

struct TelemetryOptions {
  int64_t offset_ns = 0;     // added to the times of all logs
  bool offset_told = false;  // given by the user: logs without a wall clock can be aligned
  bool at_start = false;     // align the log's first sample with the trace's first GPU activity
  int64_t zone_ns = 0;       // offset from UTC, for logs in local time
  std::map<int64_t, std::string> device_of;  // GPU of the trace -> device in the log
  std::map<int64_t, int64_t> late_ns;        // by GPU: sample delay inferred from power
};

// One signal of one device on the trace's time base.
struct TelemetryTrack {
  TelemetrySignal signal = TelemetrySignal::kPower;
  std::string device;            // name in the log; empty for the host and for a single GPU
  bool host = false;             // of the machine, not of a GPU
  std::string undivided;         // file without a GPU column, assumed to be of one GPU
  bool mean = false;             // values are means over (from_ns, t_ns] instead of samples at t_ns
  int64_t period_ns = 0;         // median sampling interval
  std::vector<int64_t> from_ns;  // same size as t_ns if `mean`
  std::vector<int64_t> t_ns;
  std::vector<double> value;
};

struct TelemetryFile {
  std::string path;
  std::string format;
  std::string clock;      // human-readable: what its timestamps are
  int64_t offset_ns = 0;  // added to the timestamps
  Interval span;          // with the offset
  uint64_t rows = 0;
};

// Logs aligned with the trace's time.
struct PlacedTelemetry {
  std::vector<TelemetryFile> files;
  std::vector<TelemetryTrack> tracks;
  std::vector<TelemetryDevice> devices;  // GPUs
  CpuUtilization cpu;                    // from the first log that has it
  std::vector<CpuCorePlace> cores;
  TrustNotes trust;
};
// first_work_ns: start of the trace's first GPU activity. Fails for a log without wall-clock times
// unless the user gave an offset.
Result<PlacedTelemetry> place_telemetry(const std::vector<TelemetryLog>& logs,
                                        const TelemetryOptions& options, int64_t first_work_ns);
// Fails if a log and the trace do not overlap. The error contains the gap between them and suggests
// a time zone if that explains it.
Status check_telemetry_overlap(const PlacedTelemetry& placed, Interval trace);

enum class SampledHow : uint8_t {
  kModelled,  // power only: from a fitted model of the sensor and the kernels' powers
  kWeighted,  // time-weighted mean; each sample represents the time around it
  kHits,      // mean of the samples inside intervals shorter than the sampling period
  kBracket,   // interval too short or too few samples: bounds from the surrounding samples
  kNone,      // no sample nearby
};
std::string_view sampled_how_name(SampledHow how);

struct SampledValue {
  TelemetrySignal signal = TelemetrySignal::kPower;
  SampledHow how = SampledHow::kNone;
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN for kBracket
  // 95 % interval of the sampling error (kModelled: of the fit; kBracket: minimum and maximum of
  // the surrounding samples).
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  uint64_t samples = 0;       // samples inside the intervals; for means, overlapping them
  double coverage_share = 0;  // share of the intervals' time that samples represent
};
// Value of the track over merged intervals.
SampledValue sample_intervals(const TelemetryTrack& track, const std::vector<Interval>& merged);

enum class TelemetryLevel : uint8_t { kIteration, kPhase, kOperation };
std::string_view telemetry_level_name(TelemetryLevel level);

struct TelemetryRow {
  TelemetryLevel level = TelemetryLevel::kIteration;
  int64_t gpu = 0;   // device index as recorded in its trace
  std::string file;  // trace; set by the caller if there are several
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  std::string op;
  uint64_t intervals = 0;
  int64_t time_ns = 0;     // length of their union
  int64_t longest_ns = 0;  // longest interval
  std::vector<Interval> merged;
  std::vector<SampledValue> values;
};
// Track with samples of a GPU's own clock, power, etc.; null if no log has it.
const TelemetryTrack* gpu_track(const PlacedTelemetry& placed, TelemetrySignal signal, int64_t gpu,
                                bool only_gpu, const TelemetryOptions& options);
// The same for power.
const TelemetryTrack* power_track(const PlacedTelemetry& placed, int64_t gpu, bool only_gpu,
                                  const TelemetryOptions& options);
// Rows per GPU: iterations (the spans), phases and operations (runs of consecutive compute kernels,
// including the bubbles inside). GPUs without a log get only the host's signals, and a caveat.
// Power is as the sensor reports it: for intervals within half a second of an end, it is bounded by
// the smallest and largest sample around.
std::vector<TelemetryRow> telemetry_rows(const BreakdownReport& report,
                                         const PlacedTelemetry& placed,
                                         const TelemetryOptions& options, TrustNotes& notes);

// Eq. 4 and 5 for one sample; processors without a value count as idle.
int active_cores(const float* percent, size_t cpus);
double min_cores(const float* percent, size_t cpus);

struct CpuMoment {
  int64_t from_ns = 0;
  int64_t t_ns = 0;
  int active = 0;        // C_active
  double min_cores = 0;  // C_min
  int one_sibling = 0;   // physical cores with one active logical processor
  int siblings = 0;      // physical cores with two or more
};
struct PhysicalCoreUse {
  CpuCorePlace place;
  int logical = 0;        // number of its logical processors
  uint64_t one = 0;       // samples with exactly one of them active
  uint64_t more = 0;      // samples with two or more active
  double busy_cores = 0;  // mean of the summed utilisation, 1 = one processor busy
};
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
// Activity of the cores during the trace.
struct CpuActivity {
  int64_t period_ns = 0;
  size_t logical = 0;
  Spread active;
  Spread min_cores;
  double utilization = 0;  // mean over time and logical processors, 0..1
  std::vector<CpuMoment> moments;
  std::vector<PhysicalCoreUse> cores;    // empty if the topology is unknown
  std::vector<uint8_t> active_siblings;  // [moment][core]
  size_t cores_used = 0;                 // physical cores active in at least one sample
  double siblings_share = 0;  // share of active physical cores, over all samples, with two or more
                              // active
};
// nullopt if no core samples are within the trace.
std::optional<CpuActivity> cpu_activity(const PlacedTelemetry& placed, Interval trace);

// Delay of one GPU's samples relative to the trace, inferred from power.
struct TelemetryLag {
  int64_t gpu = 0;
  std::string file;            // trace, as in TelemetryRow
  std::string device;          // name in the log
  std::string unknown;         // reason why the delay is unknown; if empty, the rest is valid
  bool clear = false;          // a single delay fits
  bool beyond_sensor = false;  // too long for a sensor: the clock is wrong, and all signals were
                               // shifted
  double explained = 0;        // share of the variance of the power samples that the fit explains
  int64_t lag_ns = 0;          // from power draw to sample, clock and sensor together; low and
                               // high: 95 %
  int64_t lag_low_ns = 0;
  int64_t lag_high_ns = 0;
  int64_t window_ns = 0;  // averaging window of a sample
  int64_t ramp_ns = 0;
};

struct TelemetryReport {
  std::vector<TelemetryFile> files;
  std::vector<TelemetryLag> lags;
  std::vector<TelemetryTrack> tracks;  // within the trace's span
  std::vector<TelemetryRow> rows;
  std::optional<CpuActivity> cpu;
  Interval trace;
  TrustNotes trust;
};
// One signal over all GPUs that have it, at the sample times of the first one (Figure 14).
struct GpuMoment {
  int64_t t_ns = 0;
  size_t gpus = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
};
std::vector<GpuMoment> gpu_moments(const TelemetryReport& report, TelemetrySignal signal);

// Adds caveats about the delays of the logs.
void add_lag_notes(TelemetryReport& report);

TelemetryReport summarize_telemetry(const PlacedTelemetry& placed, std::vector<TelemetryRow> rows,
                                    TrustNotes notes, Interval trace);

}  // namespace assay
