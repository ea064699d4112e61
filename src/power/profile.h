#pragma once

// The power profile of one kernel from a recording (FinGraV, spec/power 2 and 3). Aligns clocks,
// selects golden runs, attributes samples to executions, and stitches them to power over time in
// the kernel, with a band. If the sensor cannot resolve the kernel, the result is a refusal with
// the reason. Pure: no device, no file.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/power_recording.h"

namespace assay {

// Table I of the paper. Bounds are lower-inclusive: 50 us is in the second row.
struct ProfilePlan {
  uint32_t runs = 0;
  int64_t loi_spacing_ns = 0;  // one LOI is wanted per this much of the execution
  double margin = 0;           // width of the golden bin, relative to its lower edge
  bool extrapolated = false;   // under 25 us: row 1 with runs scaled by 25/T, only when forced
};
// nullopt under 25 us unless `force`.
std::optional<ProfilePlan> plan_profile(int64_t t_exec_ns, bool force);

// Executions per run for SSP: max(ceil(w / T), 4). With strict, ceil(w / T) + 1, so that the window
// contains only this kernel during all of the last execution.
uint32_t ssp_executions(int64_t window_ns, int64_t t_exec_ns, bool strict);

// The fullest bin [x, x (1 + margin)] over the durations. Ties go to the smaller spread, then to
// the smaller x. Returns the indices of its members, ascending; empty for empty input.
std::vector<size_t> golden_runs(const std::vector<int64_t>& durations_ns, double margin);

// Counter ticks as nanoseconds, exact for integer frequencies up to 1 GHz. Sample times that share
// the counter's clock are in this unit.
int64_t ticks_to_ns(int64_t ticks, double tick_hz);

// gpu = offset + rate x cpu, exact at `cpu_origin_ns`. A clock that no single line fits has several
// segments.
struct ClockSegment {
  int64_t cpu_origin_ns = 0;
  int64_t gpu_origin_ns = 0;  // GPU ticks converted to ns
  double rate = 1;            // GPU ns per CPU ns
};
struct ClockModel {
  std::vector<ClockSegment> segments;  // by cpu_origin_ns
  double drift_ppm = 0;                // (rate - 1) x 1e6 over all probes
  int64_t rtt_floor_ns = 0;            // smallest round trip; the offset is uncertain by half of it
  double residual_p95_ns = 0;
  size_t probes = 0;
  size_t probes_kept = 0;
  int64_t to_cpu_ns(int64_t gpu_ns) const;
};
// Spec/power 3: probes near the fastest round trip, Theil-Sen slope, median offset. A clock that is
// not a straight line gets straight pieces between groups of probes. Fails on fewer than 10 usable
// probes, or if a clock jumps back.
Result<ClockModel> fit_clock(const std::vector<ClockProbe>& probes, double tick_hz);

struct ProfilePoint {
  int64_t toi_ns = 0;  // time in the execution
  double power_w = 0;
  double low_w = std::numeric_limits<double>::quiet_NaN();  // 95 % band
  double high_w = std::numeric_limits<double>::quiet_NaN();
};

// How much the sensor supports for a kernel. Numbers that it cannot support are NaN.
enum class PowerVerdict : uint8_t {
  kResolved,       // the curve shows power inside the kernel (T >= 2 w)
  kAveraged,       // w > T / 2: the curve is a moving average over executions; the mean is valid
  kMeanOnly,       // no curve: mean power and energy only
  kMixed,          // windows contain other kernels or idle; the power is of the mixture
  kShortCoverage,  // fewer LOIs than the target after all rounds
  kRefused,        // no result; `reasons` says why
};
std::string_view power_verdict_name(PowerVerdict verdict);

// The declared sensor against the recording (power/sensor_check.h).
enum class SensorVerdict : uint8_t {
  kUnasked,      // not testable: few samples, long executions or other kernels
  kHolds,        // freeing the response changes nothing that matters
  kOther,        // the samples show another response
  kUnexplained,  // no response of the family explains them
};

struct SensorCheck {
  SensorVerdict verdict = SensorVerdict::kUnasked;
  double explained = 0;  // share of the samples' variance, under the inferred response
  int64_t window_ns = 0;
  int64_t window_low_ns = 0;
  int64_t window_high_ns = 0;
  int64_t ramp_ns = 0;
  int64_t delay_ns = 0;       // beyond the declared one
  double declared_ssp_w = 0;  // by the declared response, if another was found
  double found_ssp_w = 0;     // by the fitted response

  // True if a boxcar describes the response, so that a profile in time is possible. Otherwise only
  // the settled mean is.
  bool is_boxcar() const { return 4 * ramp_ns <= window_ns; }
  // Age in ns beyond which a sample contains nothing (with a ramp, less than 0.3 %).
  int64_t forgets_after_ns() const { return is_boxcar() ? window_ns : window_ns + 6 * ramp_ns; }
};

std::string_view sensor_verdict_name(SensorVerdict verdict);

// Another kernel that ran in the windows of the LOIs.
struct MixedWith {
  std::string name;
  double share = 0;  // of the windows, mean over the LOIs
};

// One execution tiled by consecutive windows back from its end. The earliest window may begin
// before the execution; before_share is that time as a share of the execution.
struct Tiling {
  double watts = std::numeric_limits<double>::quiet_NaN();  // window x sum of samples / execution
  double half_w = 0;                                        // of its 95 % interval
  double before_share = 0;
  std::vector<MixedWith> before;  // of it, by kernel, as shares of the execution; the rest is idle
};

// A part of the device that was measured in addition to the whole, over the same LOIs or plateau.
// NaN and empty if it was not.
struct ComponentProfile {
  double ssp_w = std::numeric_limits<double>::quiet_NaN();
  double low_w = std::numeric_limits<double>::quiet_NaN();  // 95 %
  double high_w = std::numeric_limits<double>::quiet_NaN();
  std::vector<ProfilePoint> curve = {};

  bool measured() const { return ssp_w == ssp_w; }
};

inline constexpr std::array<const char*, 3> kComponentNames = {"XCD", "IOD", "HBM"};

struct KernelProfile {
  std::string name;
  double flop = std::numeric_limits<double>::quiet_NaN();   // per execution, as recorded
  double bytes = std::numeric_limits<double>::quiet_NaN();  // per execution, at least
  int64_t t_exec_ns = 0;  // median SSP execution time of the golden runs
  uint32_t runs = 0;
  uint32_t cut_runs = 0;  // with a truncated record; not counted in anything else here
  uint32_t golden = 0;
  int64_t golden_low_ns = 0;  // the bin
  int64_t golden_high_ns = 0;
  uint32_t executions_per_run = 0;
  uint32_t lois = 0;        // samples inside the execution of interest of a golden run
  uint32_t loi_target = 0;  // T over the spacing of Table I, rounded up
  uint32_t sse_lois = 0;
  uint32_t plateau_samples = 0;  // samples with only settled executions in their window
  // Mean over the LOIs of the share of their window in which this kernel ran. The rest is idle time
  // or another kernel, and pulls the power towards it.
  double window_share = std::numeric_limits<double>::quiet_NaN();
  double w_over_t = 0;
  double attenuation = 0;  // |sin(pi w/T) / (pi w/T)|: amplitude left of a component of period T
  double sse_w = std::numeric_limits<double>::quiet_NaN();
  double ssp_w = std::numeric_limits<double>::quiet_NaN();  // integral of the fit over T
  double ssp_low_w = std::numeric_limits<double>::quiet_NaN();
  double ssp_high_w = std::numeric_limits<double>::quiet_NaN();
  double ssp_arithmetic_w = std::numeric_limits<double>::quiet_NaN();  // mean of the LOIs
  double sse_error = std::numeric_limits<double>::quiet_NaN();         // |SSP - SSE| / SSP
  double sse_error_low = std::numeric_limits<double>::quiet_NaN();     // 95 %
  double sse_error_high = std::numeric_limits<double>::quiet_NaN();
  double energy_j = std::numeric_limits<double>::quiet_NaN();  // own_w() x t_exec
  std::vector<MixedWith> mixed_with;                           // most first
  Tiling tiling;                                               // only under kMixed with enough LOIs
  // The kernel's own power under kMixed (power/mixed.h); NaN if the power of the others is unknown.
  double unmixed_w = std::numeric_limits<double>::quiet_NaN();
  double unmixed_low_w = std::numeric_limits<double>::quiet_NaN();
  double unmixed_high_w = std::numeric_limits<double>::quiet_NaN();
  double idle_w = std::numeric_limits<double>::quiet_NaN();  // of windows without an execution
  std::array<ComponentProfile, 3> components = {};           // as kComponentNames
  // SSP minus the measured components; NaN if none was measured. Negative if they exceed the whole;
  // a note reports it if that is more than their errors.
  double rest_w = std::numeric_limits<double>::quiet_NaN();
  uint32_t degree = 0;         // of the polynomial that gives the mean; 4 if the LOIs support it
  std::string curve_kind;      // "spline", or "polynomial"; empty without a curve
  double residual_w = 0;       // standard deviation around the fit
  int64_t largest_gap_ns = 0;  // widest part of the execution without a LOI
  ClockModel clock;
  std::vector<ProfilePoint> lois_points;  // one per LOI, by toi_ns
  std::vector<ProfilePoint> curve;        // the fit on an even grid, with its band
  std::vector<ProfilePoint> sse_points;   // the same of the first settled execution
  std::vector<ProfilePoint> sse_curve;
  // With ProfileOptions::over_run: the golden runs' samples, toi_ns from the start of their run's
  // first execution. The start of SSE and SSP is the median over the runs, 0 if there is none.
  std::vector<ProfilePoint> run_points;
  int64_t sse_from_ns = 0;
  int64_t ssp_from_ns = 0;
  // Samples that are not LOIs, by reason.
  uint64_t samples = 0;
  uint64_t samples_outside_runs = 0;
  uint64_t samples_in_gaps = 0;   // inside a run, in no execution
  uint64_t samples_repeated = 0;  // dropped: same timestamp as the previous one
  SensorCheck sensor_check;
  PowerVerdict verdict = PowerVerdict::kRefused;
  std::vector<std::string> reasons;  // why not resolved, or refused; empty when resolved
  std::vector<std::string> notes;    // further caveats

  // Power of the kernel alone; NaN if only a mixture is known.
  double own_w() const { return verdict == PowerVerdict::kMixed ? unmixed_w : ssp_w; }
};

struct ProfileOptions {
  uint32_t kernel = 0;                      // into PowerRecording::kernels
  std::optional<double> margin = {};        // absent: Table I
  std::optional<int64_t> outlier_ns = {};   // centre the bin on this execution time instead
  std::optional<uint32_t> first_runs = {};  // use only so many runs (resiliency comparison)
  // Only LOIs with nothing but this kernel in the window. Needs one execution more per run than the
  // paper's count (ssp_executions). Otherwise the window of early LOIs begins before the first
  // execution, and the result for a kernel shorter than the window is up to T / 2w too low.
  bool strict = false;
  bool force = false;        // under 25 us
  bool rescale_toi = false;  // TOI x T / T_run
  bool check_sensor = true;  // compare the declared sensor with the recording
  // The curve is the polynomial of the paper, with its bootstrapped band. If false, it is a spline
  // if there are enough LOIs (power/smooth_curve.h), else a polynomial without a band.
  bool polynomial = false;
  uint64_t seed = 1;          // of the bootstrap
  uint32_t bootstrap = 1000;  // resamples
  // Strategies of the paper. Each can be switched off to show its benefit (Figure 5). Without S2,
  // the first probe alone aligns the clocks, ignoring its delay and the drift.
  bool use_clock_sync = true;
  bool use_golden_runs = true;  // S3
  bool use_ssp = true;          // S4: off = profile the SSE execution
  bool over_run = false;        // fill run_points, sse_from_ns and ssp_from_ns
};

// The recording with the sensor that `check` found, if it is not the declared one.
PowerRecording as_found(const PowerRecording& recording, const SensorCheck& check);

// Fails on an invalid recording (no samples, no executions of the kernel, bad clocks). A kernel
// that the sensor cannot resolve is not an error; PowerVerdict reports it.
Result<KernelProfile> profile_kernel(const PowerRecording& recording,
                                     const ProfileOptions& options);

// Kernels that end at least one run, in order of their index.
std::vector<uint32_t> profiled_kernels(const PowerRecording& recording);

}  // namespace assay
