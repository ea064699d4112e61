#pragma once

// Telemetry of cores and GPUs during a trace (Chopper, sections V-E and V-F, equations 4 and 5).
// Aligns sample logs with the trace's time. Reports clocks, power and core activity for each
// iteration, phase and operation, with the sampling error. Values that the samples cannot resolve
// are bounded or refused, never interpolated.

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
  int64_t offset_ns = 0;     // added to every time of every log
  bool offset_told = false;  // given by the user: logs without a wall clock can be aligned
  bool at_start = false;     // the log's first sample lies at the trace's first device work
  int64_t zone_ns = 0;       // east of UTC, of logs in local time
  std::map<int64_t, std::string> device_of;  // the log's device of a GPU of the trace
  std::map<int64_t, int64_t> late_ns;  // by GPU: delay of its samples, inferred from their power
};

// One signal of one device on the trace's time.
struct TelemetryTrack {
  TelemetrySignal signal = TelemetrySignal::kPower;
  std::string device;            // as the log calls it; empty for the host and for the only GPU
  bool host = false;             // of the machine, not of a GPU
  std::string undivided;         // file without a GPU column, taken as one GPU's
  bool mean = false;             // means over (from_ns, t_ns], else samples at t_ns
  int64_t period_ns = 0;         // median distance of its samples
  std::vector<int64_t> from_ns;  // as long as t_ns where `mean`
  std::vector<int64_t> t_ns;
  std::vector<double> value;
};

struct TelemetryFile {
  std::string path;
  std::string format;
  std::string clock;      // in words: what its times are
  int64_t offset_ns = 0;  // added to them
  Interval span;          // after that
  uint64_t rows = 0;
};

// Logs laid on the trace's time.
struct PlacedTelemetry {
  std::vector<TelemetryFile> files;
  std::vector<TelemetryTrack> tracks;
  std::vector<TelemetryDevice> devices;  // GPUs
  CpuUtilization cpu;                    // of the first log that has it
  std::vector<CpuCorePlace> cores;
  TrustNotes trust;
};
// first_work_ns: start of the trace's first GPU activity. Fails on a log without wall-clock times
// if the user gave no offset.
Result<PlacedTelemetry> place_telemetry(const std::vector<TelemetryLog>& logs,
                                        const TelemetryOptions& options, int64_t first_work_ns);
// Fails if a log and the trace do not overlap. The message contains the gap between them, and says
// if a time zone explains it.
Status check_telemetry_overlap(const PlacedTelemetry& placed, Interval trace);

enum class SampledHow : uint8_t {
  kModelled,  // power: what a fit of the sensor with the kernels' powers gives for it
  kWeighted,  // mean over time; every sample represents the time around it
  kHits,      // mean of the samples inside intervals shorter than the sampling period
  kBracket,   // too short or too few: between the values of the samples around
  kNone,      // no sample near
};
std::string_view sampled_how_name(SampledHow how);

struct SampledValue {
  TelemetrySignal signal = TelemetrySignal::kPower;
  SampledHow how = SampledHow::kNone;
  double value = std::numeric_limits<double>::quiet_NaN();  // not of kBracket
  // 95 % interval of the sampling error, of kModelled of the fit; of kBracket, smallest and largest
  // sample around.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  uint64_t samples = 0;       // that fell into the intervals; of means, that reach into them
  double coverage_share = 0;  // of the intervals' time, for which a sample stands
};
// Value of the track over merged intervals.
SampledValue sample_intervals(const TelemetryTrack& track, const std::vector<Interval>& merged);

enum class TelemetryLevel : uint8_t { kIteration, kPhase, kOperation };
std::string_view telemetry_level_name(TelemetryLevel level);

struct TelemetryRow {
  TelemetryLevel level = TelemetryLevel::kIteration;
  int64_t gpu = 0;   // device index as recorded in its trace
  std::string file;  // of the trace; set by the caller where there are several
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  std::string op;
  uint64_t intervals = 0;
  int64_t time_ns = 0;     // their union
  int64_t longest_ns = 0;  // of them
  std::vector<Interval> merged;
  std::vector<SampledValue> values;
};
// The track of samples of a GPU's own clock, power and so on; null if no log has it.
const TelemetryTrack* gpu_track(const PlacedTelemetry& placed, TelemetrySignal signal, int64_t gpu,
                                bool only_gpu, const TelemetryOptions& options);
// That of its power.
const TelemetryTrack* power_track(const PlacedTelemetry& placed, int64_t gpu, bool only_gpu,
                                  const TelemetryOptions& options);
// Per GPU: its iterations (the spans), its phases and its operations (runs of compute kernels that
// follow each other, bubbles inside included). GPUs that no log is of get rows of the host's
// signals alone, and a note. Power is as the sensor shows it: what may have been drawn within half
// a second of an end is between the least and the greatest reading around.
std::vector<TelemetryRow> telemetry_rows(const BreakdownReport& report,
                                         const PlacedTelemetry& placed,
                                         const TelemetryOptions& options, TrustNotes& notes);

// Eq. 4 and 5 of one sample; processors without a value count as idle.
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
  int logical = 0;        // its processors
  uint64_t one = 0;       // samples with one of them active
  uint64_t more = 0;      // samples with two or more active
  double busy_cores = 0;  // mean of the sum of their utilisation, 1 = one processor busy
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
  std::vector<PhysicalCoreUse> cores;    // empty: the topology is unknown
  std::vector<uint8_t> active_siblings;  // [moment][core]
  size_t cores_used = 0;                 // physical cores active in at least one sample
  double siblings_share = 0;  // of active physical cores over all samples, with two or more active
};
// nullopt without samples of cores in the trace's span.
std::optional<CpuActivity> cpu_activity(const PlacedTelemetry& placed, Interval trace);

// Delay of one GPU's samples against its trace, from its power.
struct TelemetryLag {
  int64_t gpu = 0;
  std::string file;            // of the trace, as in TelemetryRow
  std::string device;          // as the log calls it
  std::string unknown;         // reason why nothing is known; if empty, the rest is valid
  bool clear = false;          // one lag alone fits
  bool beyond_sensor = false;  // no sensor is so late: the clock is, and all signals were moved
  double explained = 0;        // share of the variance of the power samples
  int64_t lag_ns = 0;          // delay of a sample after the draw, clock and sensor together; 95 %
  int64_t lag_low_ns = 0;
  int64_t lag_high_ns = 0;
  int64_t window_ns = 0;  // averaging window of a sample
  int64_t ramp_ns = 0;
};

struct TelemetryReport {
  std::vector<TelemetryFile> files;
  std::vector<TelemetryLag> lags;
  std::vector<TelemetryTrack> tracks;  // cut to the trace's span
  std::vector<TelemetryRow> rows;
  std::optional<CpuActivity> cpu;
  Interval trace;
  TrustNotes trust;
};
// One signal over all GPUs that have it, at the samples of the first (Figure 14).
struct GpuMoment {
  int64_t t_ns = 0;
  size_t gpus = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
};
std::vector<GpuMoment> gpu_moments(const TelemetryReport& report, TelemetrySignal signal);

// Adds caveats that follow from the delays of the logs.
void add_lag_notes(TelemetryReport& report);

TelemetryReport summarize_telemetry(const PlacedTelemetry& placed, std::vector<TelemetryRow> rows,
                                    TrustNotes notes, Interval trace);

}  // namespace assay
