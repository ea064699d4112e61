// The analysis of spec/power 2: golden runs, LOIs, the stitched curve, and the verdict.

#include "power/profile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "base/stats.h"
#include "power/fit.h"
#include "power/mixed.h"
#include "power/placement.h"
#include "power/sensor_check.h"
#include "power/smooth_curve.h"
#include "power/sse_error.h"

namespace assay {
namespace {

constexpr size_t kGridPoints = 41;
constexpr double kResidualShare = 1.0 / 20;  // of T: largest accepted residual of the clocks
constexpr int64_t kSlowSensor = 10'000'000;  // minimum window or period for which no curve is drawn
constexpr double kCleanWindow = 0.995;       // least share of a window, to count as pure
constexpr uint32_t kFewestRepetitions = 32;  // Yang et al.: or at least 5 s
constexpr int64_t kLongRun = 5'000'000'000;
constexpr size_t kFewestRuns = 3;  // for an interval

std::string number(const char* form, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), form, value);
  return text;
}
// Uses the unit that leaves few digits before the point.
std::string duration_words(double ns) {
  if (ns >= 1e10) return number("%.0f s", ns / 1e9);
  if (ns >= 1e9) return number("%.4g s", ns / 1e9);
  return ns >= 1e6 ? number("%.4g ms", ns / 1e6) : number("%.4g us", ns / 1e3);
}
std::string ratio(double value) { return number(value < 100 ? "%.3g" : "%.0f", value); }
std::string percent(double share) { return number("%.1f %%", share * 100); }

// State shared by the steps.
struct Job {
  const PowerRecording& recording;
  const ProfileOptions& options;
  std::vector<CutRun> cut;
  std::vector<RunView> runs;    // all runs except `cut`
  std::vector<RunView> golden;  // those in the bin
  TimedSamples timed;
  Placement placement;
  ProfilePlan plan;
};

ClockModel same_clock() {
  ClockModel model;
  model.segments.push_back({});
  return model;
}

// Strategy S2 off: only the first probe aligns the clocks.
Result<ClockModel> naive_clock(const PowerRecording& recording) {
  if (recording.probes.empty()) {
    return Error{ErrorCode::kFormat, "no clock probe ties the samples to the executions", "", -1};
  }
  const ClockProbe& first = recording.probes.front();
  ClockModel model = same_clock();
  model.segments.front() = {first.c1_ns, ticks_to_ns(first.gpu_ticks, recording.tick_hz), 1};
  model.probes = recording.probes.size();
  model.probes_kept = 1;
  return model;
}

Result<ClockModel> clock_of(const PowerRecording& recording, const ProfileOptions& options) {
  if (recording.samples_on_cpu_clock) return same_clock();
  if (!options.use_clock_sync) return naive_clock(recording);
  return fit_clock(recording.probes, recording.tick_hz);
}

std::vector<int64_t> durations_of(const std::vector<RunView>& runs) {
  std::vector<int64_t> durations;
  durations.reserve(runs.size());
  for (const RunView& run : runs) durations.push_back(run.ssp_duration_ns);
  return durations;
}

void refuse(KernelProfile& profile, std::string reason) {
  profile.verdict = PowerVerdict::kRefused;
  profile.reasons.push_back(std::move(reason));
}

// Steps 1 and 6: the row of Table I and the runs in the bin. False = refused.
bool choose_runs(Job& job, KernelProfile& profile) {
  const ProfileOptions& options = job.options;
  const std::vector<int64_t> durations = durations_of(job.runs);
  const int64_t typical = options.outlier_ns ? *options.outlier_ns : median_ns(durations);
  profile.t_exec_ns = typical;
  const auto plan = plan_profile(typical, options.force);
  if (!plan) {
    refuse(profile,
           "an execution takes " + duration_words(static_cast<double>(typical)) +
               ", under the 25 us for which the method is specified; --force profiles it anyway");
    return false;
  }
  job.plan = *plan;
  if (plan->extrapolated) {
    profile.notes.push_back("under 25 us: outside the published table, profiled because forced");
  }
  const double margin = options.margin.value_or(plan->margin);
  if (!options.use_golden_runs) {
    job.golden = job.runs;
  } else if (options.outlier_ns) {
    const double centre = static_cast<double>(*options.outlier_ns);
    for (const RunView& run : job.runs) {
      const double off = std::fabs(static_cast<double>(run.ssp_duration_ns) - centre);
      if (off <= centre * margin / 2) job.golden.push_back(run);
    }
  } else {
    for (const size_t i : golden_runs(durations, margin)) job.golden.push_back(job.runs[i]);
  }
  profile.golden = static_cast<uint32_t>(job.golden.size());
  if (job.golden.empty()) {
    refuse(profile, "no run has an execution within " + percent(margin / 2) + " of " +
                        duration_words(static_cast<double>(typical)));
    return false;
  }
  const std::vector<int64_t> golden = durations_of(job.golden);
  profile.t_exec_ns = median_ns(golden);
  profile.golden_low_ns = *std::min_element(golden.begin(), golden.end());
  profile.golden_high_ns = *std::max_element(golden.begin(), golden.end());
  profile.loi_target = static_cast<uint32_t>((profile.t_exec_ns + job.plan.loi_spacing_ns - 1) /
                                             job.plan.loi_spacing_ns);
  const double share = static_cast<double>(profile.golden) / static_cast<double>(profile.runs);
  if (options.use_golden_runs && !options.outlier_ns && share < 0.25) {
    profile.notes.push_back("execution times scatter: the fullest bin of " + percent(margin) +
                            " holds " + percent(share) + " of the runs");
  }
  return true;
}

// One LOI and the data that each fit needs.
struct Loi {
  LoiPoint point;
  double share = 1;  // share of its window in this kernel
  const PowerSample* sample = nullptr;
  size_t execution = 0;
  int64_t t_ns = 0;
};

std::vector<Loi> lois_at(const Job& job, const KernelProfile& profile, bool ssp) {
  std::vector<Loi> lois;
  for (const RunView& run : job.golden) {
    if (!ssp && !run.sse) continue;
    const size_t at = ssp ? run.ssp : *run.sse;
    const PowerExecution& execution = job.recording.executions[at];
    const double duration = static_cast<double>(execution.end_ns - execution.start_ns);
    const double scale = job.options.rescale_toi && duration > 0
                             ? static_cast<double>(profile.t_exec_ns) / duration
                             : 1;
    for (const TimedSample& sample : job.placement.in_execution[at]) {
      const double share =
          window_share(job.recording, run.block, at, sample.t_ns, job.recording.sensor.window_ns);
      if (ssp && job.options.strict && share < kCleanWindow) continue;
      const PowerSample& reading = job.recording.samples[sample.sample];
      const double toi = static_cast<double>(sample.t_ns - execution.start_ns) * scale;
      lois.push_back({{toi, reading.power_w, run.run}, share, &reading, at, sample.t_ns});
    }
  }
  return lois;
}

std::vector<LoiPoint> points_of(const std::vector<Loi>& lois) {
  std::vector<LoiPoint> points;
  points.reserve(lois.size());
  for (const Loi& loi : lois) points.push_back(loi.point);
  return points;
}

std::vector<ProfilePoint> scatter_of(const std::vector<LoiPoint>& points) {
  std::vector<ProfilePoint> scatter;
  scatter.reserve(points.size());
  for (const LoiPoint& point : points) {
    scatter.push_back({.toi_ns = std::llround(point.toi_ns), .power_w = point.power_w});
  }
  std::sort(scatter.begin(), scatter.end(), [](const ProfilePoint& a, const ProfilePoint& b) {
    return a.toi_ns != b.toi_ns ? a.toi_ns < b.toi_ns : a.power_w < b.power_w;
  });
  return scatter;
}

struct Stitched {
  CurveFit fit;
  CurveBand band;
  uint32_t degree = 0;
  std::string kind;
  double residual_w = 0;  // standard deviation around the curve
  std::vector<ProfilePoint> curve;
};

// The curve: a spline with its band, or the polynomial.
void draw(const std::vector<LoiPoint>& points, const std::vector<double>& grid, double window_ns,
          const ProfileOptions& options, Stitched& stitched) {
  if (!options.polynomial && points.size() >= kFewestForSpline) {
    const SmoothCurve smooth = smooth_curve(points, stitched.fit.span_ns, window_ns, grid);
    stitched.kind = "spline";
    stitched.residual_w = smooth.residual_w;
    for (size_t i = 0; i < grid.size(); ++i) {
      stitched.curve.push_back(
          {std::llround(grid[i]), smooth.power_w[i], smooth.band[i].low, smooth.band[i].high});
    }
    return;
  }
  stitched.kind = "polynomial";
  stitched.residual_w = stitched.fit.residual_w;
  for (size_t i = 0; i < grid.size(); ++i) {
    ProfilePoint point{.toi_ns = std::llround(grid[i]), .power_w = stitched.fit.at(grid[i])};
    if (options.polynomial) {
      point.low_w = stitched.band.at[i].low;
      point.high_w = stitched.band.at[i].high;
    }
    stitched.curve.push_back(point);
  }
}

Stitched stitch(const std::vector<LoiPoint>& points, int64_t t_exec_ns, int64_t window_ns,
                const ProfileOptions& options) {
  const double span = static_cast<double>(t_exec_ns);
  Stitched stitched;
  stitched.degree = supported_degree(points, span);
  stitched.fit = fit_curve(points, span, stitched.degree);
  std::vector<double> grid;
  for (size_t i = 0; i < kGridPoints; ++i) {
    grid.push_back(span * static_cast<double>(i) / (kGridPoints - 1));
  }
  stitched.band = bootstrap_band(points, stitched.fit, grid, options.bootstrap, options.seed);
  draw(points, grid, static_cast<double>(window_ns), options, stitched);
  return stitched;
}

int64_t largest_gap(const std::vector<ProfilePoint>& scatter, int64_t t_exec_ns) {
  if (scatter.empty()) return t_exec_ns;
  int64_t gap = std::max(scatter.front().toi_ns, t_exec_ns - scatter.back().toi_ns);
  for (size_t i = 1; i < scatter.size(); ++i) {
    gap = std::max(gap, scatter[i].toi_ns - scatter[i - 1].toi_ns);
  }
  return gap;
}

// Noise of a sample, from differences of neighbouring LOIs without any curve.
double local_noise(std::vector<LoiPoint> points) {
  std::sort(points.begin(), points.end(),
            [](const LoiPoint& a, const LoiPoint& b) { return a.toi_ns < b.toi_ns; });
  std::vector<double> steps;
  for (size_t i = 1; i < points.size(); ++i) {
    steps.push_back(std::fabs(points[i].power_w - points[i - 1].power_w));
  }
  // The median step of a normal difference is 0.6745 x sqrt(2) standard deviations.
  return steps.empty() ? 0 : median(std::move(steps)) / (0.6745 * std::numbers::sqrt2);
}

void note_misfit(const std::vector<LoiPoint>& points, KernelProfile& profile) {
  constexpr size_t kEnough = 30;
  const double noise = local_noise(points);
  if (points.size() < kEnough || profile.residual_w <= 1.5 * noise) return;
  profile.notes.push_back("the curve (" + profile.curve_kind + ") misses structure: LOIs lie " +
                          number("%.1f W", profile.residual_w) + " around it and " +
                          number("%.1f W", noise) +
                          " around their neighbours; believe the scatter, and the mean");
}

constexpr std::array<double PowerSample::*, 3> kComponents = {
    &PowerSample::xcd_w, &PowerSample::iod_w, &PowerSample::hbm_w};

void stitch_components(const Job& job, const std::vector<Loi>& lois, KernelProfile& profile) {
  for (size_t c = 0; c < kComponents.size(); ++c) {
    std::vector<LoiPoint> points;
    for (const Loi& loi : lois) {
      const double watts = loi.sample->*kComponents[c];
      if (std::isfinite(watts)) points.push_back({loi.point.toi_ns, watts, loi.point.run});
    }
    if (points.empty()) continue;
    Stitched stitched =
        stitch(points, profile.t_exec_ns, job.recording.sensor.window_ns, job.options);
    profile.components[c] = {stitched.fit.mean(), stitched.band.mean.low, stitched.band.mean.high,
                             std::move(stitched.curve)};
  }
}

// Other kernels in the windows of the LOIs, largest share first.
std::vector<MixedWith> mixed_with(const Job& job, const std::vector<Loi>& lois) {
  std::vector<double> shares(job.recording.kernels.size(), 0);
  for (const Loi& loi : lois) {
    const std::vector<double> one =
        kernel_shares(job.recording, loi.execution, loi.t_ns, job.recording.sensor.window_ns);
    for (size_t k = 0; k < shares.size(); ++k) {
      shares[k] += one[k] / static_cast<double>(lois.size());
    }
  }
  std::vector<MixedWith> mixed;
  for (uint32_t k = 0; k < shares.size(); ++k) {
    if (k != job.options.kernel && shares[k] > 0) {
      mixed.push_back({job.recording.kernels[k], shares[k]});
    }
  }
  std::sort(mixed.begin(), mixed.end(),
            [](const MixedWith& a, const MixedWith& b) { return a.share > b.share; });
  return mixed;
}

// Windows that end at the end of an execution, one window before it and so on tile the execution.
// Their sum is its energy plus that of an interval before its start, for any phases. The mean of
// all LOIs is not, because their windows cover its start more often than its end.
Tiling tile(const Job& job, const KernelProfile& profile, const std::vector<LoiPoint>& points) {
  Tiling tiling;
  const auto window = static_cast<double>(job.recording.sensor.window_ns);
  const auto span = static_cast<double>(profile.t_exec_ns);
  if (points.size() < kFewestForSpline || window <= 0) return tiling;
  std::vector<double> ends;
  double at = span;
  for (; at > 0; at -= window) ends.push_back(at);
  const SmoothCurve curve = smooth_curve(points, span, window, ends);
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    sum += curve.power_w[i];
    const double half = curve.band[i].high - curve.power_w[i];
    squares += half * half;
  }
  tiling.watts = sum * window / span;
  tiling.half_w = std::sqrt(squares) * window / span;
  tiling.before_share = -at / span;
  std::vector<double> shares(job.recording.kernels.size(), 0);
  for (const RunView& run : job.golden) {
    if (run.block == run.first) continue;
    const int64_t start = job.recording.executions[run.block].start_ns;
    const std::vector<double> one =
        kernel_shares(job.recording, run.block - 1, start, std::llround(-at));
    for (size_t k = 0; k < shares.size(); ++k) {
      shares[k] += one[k] * tiling.before_share / static_cast<double>(job.golden.size());
    }
  }
  for (size_t k = 0; k < shares.size(); ++k) {
    if (shares[k] > 0) tiling.before.push_back({job.recording.kernels[k], shares[k]});
  }
  return tiling;
}

// Steps 7 to 9 for the execution of interest.
void stitch_profile(const Job& job, KernelProfile& profile, const std::vector<Loi>& lois) {
  const std::vector<LoiPoint> points = points_of(lois);
  profile.lois = static_cast<uint32_t>(points.size());
  profile.lois_points = scatter_of(points);
  profile.largest_gap_ns = largest_gap(profile.lois_points, profile.t_exec_ns);
  if (points.empty()) return;
  double sum = 0;
  double share = 0;
  for (const Loi& loi : lois) {
    sum += loi.point.power_w;
    share += loi.share;
  }
  profile.ssp_arithmetic_w = sum / static_cast<double>(lois.size());
  profile.window_share = share / static_cast<double>(lois.size());
  profile.mixed_with = mixed_with(job, lois);
  Stitched stitched =
      stitch(points, profile.t_exec_ns, job.recording.sensor.window_ns, job.options);
  profile.degree = stitched.degree;
  profile.curve_kind = stitched.kind;
  profile.residual_w = stitched.residual_w;
  profile.ssp_w = stitched.fit.mean();
  profile.ssp_low_w = stitched.band.mean.low;
  profile.ssp_high_w = stitched.band.mean.high;
  profile.curve = std::move(stitched.curve);
  stitch_components(job, lois, profile);
  const bool between = std::all_of(job.golden.begin(), job.golden.end(),
                                   [](const RunView& run) { return run.block == run.ssp; });
  if (between && profile.window_share < kLeastOwnShare) profile.tiling = tile(job, profile, points);
  note_misfit(points, profile);
}

void stitch_sse(const Job& job, KernelProfile& profile) {
  const std::vector<LoiPoint> points = points_of(lois_at(job, profile, false));
  profile.sse_lois = static_cast<uint32_t>(points.size());
  profile.sse_points = scatter_of(points);
  if (points.empty()) return;
  Stitched stitched =
      stitch(points, profile.t_exec_ns, job.recording.sensor.window_ns, job.options);
  profile.sse_w = stitched.fit.mean();
  profile.sse_curve = std::move(stitched.curve);
}

// Samples with only settled executions of the kernel in their window. Their mean does not depend on
// the position inside an execution (spec/power 4.1 a).
struct Plateau {
  std::vector<double> run_means;
  uint32_t samples = 0;
};

// For the whole, or for the component `watts`.
Plateau plateau_of(const Job& job, double PowerSample::* watts = &PowerSample::power_w) {
  Plateau plateau;
  for (const RunView& run : job.golden) {
    const size_t settled = std::min(run.block + 3, run.ssp);
    double sum = 0;
    uint32_t count = 0;
    for (size_t at = settled; at <= run.ssp; ++at) {
      for (const TimedSample& sample : job.placement.in_execution[at]) {
        const double share =
            window_share(job.recording, settled, at, sample.t_ns, job.recording.sensor.window_ns);
        const double shown_w = job.recording.samples[sample.sample].*watts;
        if (share < kCleanWindow || !std::isfinite(shown_w)) continue;
        sum += shown_w;
        ++count;
      }
    }
    if (count == 0) continue;
    plateau.run_means.push_back(sum / count);
    plateau.samples += count;
  }
  return plateau;
}

// Interval of the means of runs. With two runs they may be equal only because samples are in whole
// watts.
MeanInterval interval_of_runs(const std::vector<double>& run_means) {
  MeanInterval mean = mean_interval95(run_means);
  if (run_means.size() < kFewestRuns) mean.low = mean.high = std::nan("");
  return mean;
}

void take_plateau(const Job& job, const Plateau& plateau, KernelProfile& profile) {
  const MeanInterval mean = interval_of_runs(plateau.run_means);
  for (size_t c = 0; c < kComponents.size(); ++c) {
    const Plateau part = plateau_of(job, kComponents[c]);
    profile.components[c] = {};
    if (part.samples == 0) continue;
    const MeanInterval part_mean = interval_of_runs(part.run_means);
    profile.components[c] = {part_mean.mean, part_mean.low, part_mean.high, {}};
  }
  profile.ssp_w = mean.mean;
  profile.ssp_low_w = mean.low;
  profile.ssp_high_w = mean.high;
  profile.ssp_arithmetic_w = mean.mean;
  profile.window_share = 1;
  profile.mixed_with.clear();
  profile.degree = 0;
  profile.curve_kind.clear();
  profile.curve.clear();
  profile.sse_curve.clear();
}

// Median of the samples with no execution in their window.
double idle_power(const Job& job) {
  std::vector<double> idle;
  size_t next = 0;  // execution
  const std::vector<PowerExecution>& executions = job.recording.executions;
  int64_t busy_until = INT64_MIN;
  for (const TimedSample& sample : job.timed.samples) {
    while (next < executions.size() && executions[next].start_ns < sample.t_ns) {
      busy_until = std::max(busy_until, executions[next].end_ns);
      ++next;
    }
    const bool clear =
        busy_until == INT64_MIN || busy_until <= sample.t_ns - job.recording.sensor.window_ns;
    const bool unsure = std::any_of(job.cut.begin(), job.cut.end(), [&](const CutRun& cut) {
      return cut.from_ns <= sample.t_ns && sample.t_ns < cut.to_ns;
    });
    if (clear && !unsure) idle.push_back(job.recording.samples[sample.sample].power_w);
  }
  return idle.empty() ? std::nan("") : median(std::move(idle));
}

bool slow_sensor(const SensorModel& sensor) {
  return sensor.mode == SensorMode::kOneSecondAverage || sensor.window_ns >= kSlowSensor ||
         sensor.period_ns >= kSlowSensor;
}

void note_windows(const Job& job, KernelProfile& profile) {
  if (!(profile.window_share < kCleanWindow)) return;
  const double away = 1 - profile.window_share;
  std::string text = percent(away) + " of the LOIs' windows lies outside this kernel's executions";
  if (std::isfinite(profile.idle_w)) {
    const double shift = away * (profile.ssp_w - profile.idle_w) / profile.window_share;
    text += "; if the device idled then, SSP is " + number("%.1f W", std::fabs(shift)) +
            (shift > 0 ? " too low" : " too high");
  }
  if (!job.options.strict) text += "; one execution more per run and --strict-windows avoid it";
  profile.notes.push_back(std::move(text));
}

std::string averaged_reason(const KernelProfile& profile, int64_t window_ns) {
  return "the sensor averages over " + duration_words(static_cast<double>(window_ns)) + ", " +
         ratio(profile.w_over_t) + " executions: the curve is a moving average over them, and " +
         percent(profile.attenuation) + " is left of what repeats with each execution";
}

// A refusal reports no powers.
void drop_powers(KernelProfile& profile) {
  const KernelProfile nothing;
  profile.sse_w = nothing.sse_w;
  profile.ssp_w = nothing.ssp_w;
  profile.ssp_low_w = nothing.ssp_low_w;
  profile.ssp_high_w = nothing.ssp_high_w;
  profile.ssp_arithmetic_w = nothing.ssp_arithmetic_w;
  profile.mixed_with.clear();
  profile.components = nothing.components;
  profile.degree = 0;
  profile.curve_kind.clear();
  profile.residual_w = 0;
  profile.curve.clear();
  profile.sse_curve.clear();
}

// Chooses the verdict (spec/power 2.2 and 4.1): first what the sensor can resolve, then whether
// there are enough LOIs.
void judge(const Job& job, KernelProfile& profile, const Plateau& plateau) {
  const SensorModel& sensor = job.recording.sensor;
  const bool blurred = sensor.ramp_ns > 0;
  const bool mean_only =
      blurred || (slow_sensor(sensor) && profile.t_exec_ns < 2 * sensor.window_ns);
  if (mean_only || profile.lois == 0) {
    if (plateau.run_means.size() < 2) {
      const int64_t wanted = sensor.window_ns + 2 * sensor.period_ns;
      refuse(profile, profile.lois == 0 && !mean_only
                          ? "no sample lies inside the execution of interest of any golden run"
                          : "no sample's window holds this kernel alone: run it back to back for " +
                                duration_words(static_cast<double>(wanted)) + " and more");
      return;
    }
    profile.verdict = PowerVerdict::kMeanOnly;
    profile.reasons.push_back(
        blurred ? "the sensor may follow with a lag of " +
                      duration_words(static_cast<double>(sensor.ramp_ns)) +
                      " that is not a window's, so a profile in time would be a guess: mean power "
                      "and energy only"
        : mean_only
            ? "the sensor averages over " + duration_words(static_cast<double>(sensor.window_ns)) +
                  " and a profile in time needs executions twice as long: mean power and "
                  "energy only"
            : "no sample lies inside the execution of interest: mean power over the plateau "
              "only");
    take_plateau(job, plateau, profile);
    return;
  }
  const bool averaged = profile.t_exec_ns < 2 * sensor.window_ns;
  if (averaged) profile.reasons.push_back(averaged_reason(profile, sensor.window_ns));
  profile.verdict = averaged ? PowerVerdict::kAveraged : PowerVerdict::kResolved;
  if (profile.lois < profile.loi_target) {
    profile.verdict = PowerVerdict::kShortCoverage;
    profile.reasons.push_back(std::to_string(profile.lois) + " LOIs where " +
                              std::to_string(profile.loi_target) + " are wanted: record more runs");
  }
  if (profile.window_share < kLeastOwnShare) {
    profile.verdict = PowerVerdict::kMixed;
    profile.reasons.push_back(percent(profile.window_share) + " of the sensor's windows was " +
                              profile.name + ": the number is the mean of all that ran in them");
  }
}

void note_repetitions(const Job& job, KernelProfile& profile) {
  if (profile.verdict != PowerVerdict::kMeanOnly) return;
  const RunView& run = job.golden.front();
  const auto& executions = job.recording.executions;
  const size_t repetitions = run.ssp - run.block + 1;
  const int64_t length = executions[run.ssp].end_ns - executions[run.block].start_ns;
  if (repetitions >= kFewestRepetitions || length >= kLongRun) return;
  profile.notes.push_back("energy rests on " + std::to_string(repetitions) +
                          " executions per run; 32, or 5 s, are good practice with such a sensor");
}

// False = refused: the alignment is worse than the method allows.
bool clocks_agree(const Job& job, KernelProfile& profile) {
  const bool placed_in_time = !slow_sensor(job.recording.sensor);
  const double scale =
      static_cast<double>(placed_in_time ? profile.t_exec_ns : job.recording.sensor.window_ns);
  if (profile.clock.residual_p95_ns <= kResidualShare * scale) return true;
  refuse(profile, "the clocks agree to " + duration_words(profile.clock.residual_p95_ns) +
                      " only (95 % of the probes), and " + duration_words(kResidualShare * scale) +
                      ", a twentieth, is needed");
  return false;
}

bool sensor_known(const SensorModel& sensor, KernelProfile& profile) {
  if (sensor.window_ns > 0 || sensor.mode == SensorMode::kInstant) return true;
  refuse(
      profile,
      "the sensor's averaging window is not known: run assay power calibrate on that machine, or "
      "state w_us in meta.json");
  return false;
}

// Interval of the SSE error. Needs SSP from a curve, because a mean over the plateau has no LOIs to
// resample by run.
void add_sse_interval(const Job& job, KernelProfile& profile) {
  constexpr uint32_t kMostResamples = 400;
  if (profile.curve_kind.empty()) return;
  const std::vector<LoiPoint> ssp = points_of(lois_at(job, profile, job.options.use_ssp));
  const std::vector<LoiPoint> sse = points_of(lois_at(job, profile, false));
  const auto span = static_cast<double>(profile.t_exec_ns);
  const Interval95 interval =
      sse_error_interval(ssp, profile.degree, sse, supported_degree(sse, span), span,
                         std::min(job.options.bootstrap, kMostResamples), job.options.seed);
  profile.sse_error_low = std::min(interval.low, profile.sse_error);
  profile.sse_error_high = std::max(interval.high, profile.sse_error);
  if (std::isnan(interval.low)) profile.sse_error_low = profile.sse_error_high = interval.low;
}

// The power that is in no measured component. Notes if the components exceed the whole by more than
// their errors.
void add_rest(KernelProfile& profile) {
  double sum_w = 0;
  double error_w = profile.ssp_high_w - profile.ssp_w;
  bool any = false;
  for (const ComponentProfile& part : profile.components) {
    if (!part.measured()) continue;
    any = true;
    sum_w += part.ssp_w;
    error_w += part.ssp_w - part.low_w;
  }
  if (!any) return;
  profile.rest_w = profile.ssp_w - sum_w;
  if (!(profile.rest_w < -error_w)) return;
  profile.notes.push_back("its parts add up to " + number("%.0f W", sum_w) + ", " +
                          number("%.0f W", -profile.rest_w) +
                          " more than the whole, and more than their errors: parts or whole are "
                          "measured wrongly");
}

void finish(const Job& job, KernelProfile& profile) {
  const double t_s = static_cast<double>(profile.t_exec_ns) * 1e-9;
  profile.energy_j = profile.own_w() * t_s;
  if (profile.ssp_w > 0 && profile.sse_lois > 0) {
    profile.sse_error = std::fabs(profile.ssp_w - profile.sse_w) / profile.ssp_w;
    add_sse_interval(job, profile);
  }
  add_rest(profile);
  note_windows(job, profile);
  note_repetitions(job, profile);
  if (profile.golden < kFewestRuns) {
    profile.notes.push_back("only " + std::to_string(profile.golden) +
                            " golden runs: no interval can be given");
  }
}

double attenuation_of(double w_over_t) {
  const double x = std::numbers::pi * w_over_t;
  return x < 1e-9 ? 1 : std::fabs(std::sin(x) / x);
}

KernelProfile start_profile(const PowerRecording& recording, const ProfileOptions& options) {
  KernelProfile profile;
  profile.name = recording.kernels[options.kernel];
  if (options.kernel < recording.kernel_flop.size()) {
    profile.flop = recording.kernel_flop[options.kernel];
  }
  if (options.kernel < recording.kernel_bytes.size()) {
    profile.bytes = recording.kernel_bytes[options.kernel];
  }
  return profile;
}

// Description of the sensor that the samples show, if it is not the declared one.
std::string other_sensor_words(const SensorCheck& check, int64_t declared_ns) {
  const auto time = [](int64_t ns) { return duration_words(static_cast<double>(ns)); };
  std::string words = "the samples show a window of " + time(check.window_ns) + " (" +
                      time(check.window_low_ns) + " to " + time(check.window_high_ns) + ")";
  if (!check.is_boxcar()) words += " after a ramp of " + time(check.ramp_ns);
  if (std::llabs(check.delay_ns) * 20 > declared_ns) {
    words += ", " + time(std::llabs(check.delay_ns)) + (check.delay_ns > 0 ? " later" : " earlier");
  }
  return words + ", where " + time(declared_ns) + " was declared";
}

// Sets the time of each sample and assigns it to an execution; counts samples outside. Fails if all
// are outside every run.
Status place(Job& job, KernelProfile& profile) {
  job.timed = time_samples(job.recording, profile.clock);
  job.placement = place_samples(job.recording, job.timed);
  profile.samples = job.recording.samples.size();
  profile.samples_repeated = job.timed.repeated;
  profile.samples_outside_runs = job.placement.outside_runs;
  profile.samples_in_gaps = job.placement.in_gaps;
  if (profile.samples_outside_runs < job.timed.samples.size()) return Ok{};
  return Error{ErrorCode::kFormat,
               "every power sample lies outside every run: samples and executions are on different "
               "clocks, or of different measurement runs",
               "", -1};
}

// Power over the whole time of the golden runs (Figure 5).
void lay_over_run(const Job& job, KernelProfile& profile) {
  const auto& executions = job.recording.executions;
  std::vector<int64_t> sse_from;
  std::vector<int64_t> ssp_from;
  for (const RunView& run : job.golden) {
    const int64_t began = executions[run.first].start_ns;
    if (run.sse) sse_from.push_back(executions[*run.sse].start_ns - began);
    ssp_from.push_back(executions[run.ssp].start_ns - began);
    for (size_t at = run.first; at < run.end; ++at) {
      for (const TimedSample& sample : job.placement.in_execution[at]) {
        profile.run_points.push_back({.toi_ns = sample.t_ns - began,
                                      .power_w = job.recording.samples[sample.sample].power_w});
      }
    }
  }
  profile.sse_from_ns = sse_from.empty() ? 0 : median_ns(std::move(sse_from));
  profile.ssp_from_ns = median_ns(std::move(ssp_from));
}

void stitch_and_judge(Job& job, KernelProfile& profile) {
  if (job.options.over_run) lay_over_run(job, profile);
  profile.idle_w = idle_power(job);
  stitch_profile(job, profile, lois_at(job, profile, job.options.use_ssp));
  stitch_sse(job, profile);
  const Plateau plateau = plateau_of(job);
  profile.plateau_samples = plateau.samples;
  judge(job, profile, plateau);
  if (profile.verdict == PowerVerdict::kRefused) {
    drop_powers(profile);
  } else {
    finish(job, profile);
  }
}

// Note for a sensor that could not be checked: all results then depend on the declared one.
std::string unasked_words(const SensorModel& sensor, int64_t t_exec_ns) {
  const bool few =
      kExecutionsToCheck * static_cast<double>(t_exec_ns) > static_cast<double>(sensor.window_ns);
  return std::string("the declared sensor was not tested by this recording: ") +
         (few ? "that needs three executions or more in its window"
              : "the rise to settled power is not this kernel's alone, or too few samples hold "
                "it") +
         "; a window that is longer than declared would make a curve of averages";
}

Result<KernelProfile> profile_as_declared(const PowerRecording& recording,
                                          const ProfileOptions& options) {
  ASSAY_TRY(check_recording(recording));
  if (options.kernel >= recording.kernels.size()) {
    return Error{ErrorCode::kInvalidArgument, "no such kernel in this recording", "", -1};
  }
  std::vector<CutRun> cut = find_cut_runs(recording);
  Job job{.recording = recording,
          .options = options,
          .cut = {},
          .runs = view_runs(recording, options.kernel, options.first_runs, cut),
          .golden = {},
          .timed = {},
          .placement = {},
          .plan = {}};
  KernelProfile profile = start_profile(recording, options);
  if (job.runs.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "the kernel " + profile.name + " has no executions in this recording", "", -1};
  }
  profile.runs = static_cast<uint32_t>(job.runs.size());
  profile.cut_runs = static_cast<uint32_t>(cut.size());
  job.cut = std::move(cut);
  ASSAY_TRY_ASSIGN(profile.clock, clock_of(recording, options));
  ASSAY_TRY(place(job, profile));
  if (!choose_runs(job, profile)) return profile;
  profile.w_over_t =
      static_cast<double>(recording.sensor.window_ns) / static_cast<double>(profile.t_exec_ns);
  profile.attenuation = attenuation_of(profile.w_over_t);
  profile.executions_per_run =
      static_cast<uint32_t>(job.golden.front().ssp - job.golden.front().block + 1);
  if (!sensor_known(recording.sensor, profile)) return profile;
  if (options.use_clock_sync && !clocks_agree(job, profile)) return profile;
  if (options.check_sensor) {
    profile.sensor_check = check_sensor(recording, job.golden, job.timed, profile.t_exec_ns);
    if (profile.sensor_check.verdict == SensorVerdict::kOther) return profile;
    if (profile.sensor_check.verdict == SensorVerdict::kUnasked)
      profile.notes.push_back(unasked_words(recording.sensor, profile.t_exec_ns));
  }

  stitch_and_judge(job, profile);
  return profile;
}

}  // namespace

PowerRecording as_found(const PowerRecording& recording, const SensorCheck& check) {
  PowerRecording found = recording;
  if (check.verdict != SensorVerdict::kOther) return found;
  found.sensor.window_ns = check.forgets_after_ns();
  found.sensor.delay_ns += check.delay_ns;
  if (!check.is_boxcar()) found.sensor.ramp_ns = check.ramp_ns;
  return found;
}

Result<KernelProfile> profile_kernel(const PowerRecording& recording,
                                     const ProfileOptions& options) {
  ASSAY_TRY_ASSIGN(KernelProfile declared, profile_as_declared(recording, options));
  const SensorCheck check = declared.sensor_check;
  if (check.verdict != SensorVerdict::kOther) return declared;
  const std::string words = other_sensor_words(check, recording.sensor.window_ns);
  ProfileOptions unchecked = options;
  unchecked.check_sensor = false;
  ASSAY_TRY_ASSIGN(KernelProfile profile,
                   profile_as_declared(as_found(recording, check), unchecked));
  if (!check.is_boxcar() && profile.verdict == PowerVerdict::kRefused) {
    refuse(declared, words + ": no boxcar, and its mean needs runs of " +
                         duration_words(static_cast<double>(check.forgets_after_ns())) +
                         " and more without a gap");
    return declared;
  }
  profile.sensor_check = check;
  profile.notes.push_back(
      words + ": the profile is made with what they show; as declared its mean would be " +
      percent(std::fabs(check.declared_ssp_w / check.found_ssp_w - 1)) +
      (check.declared_ssp_w > check.found_ssp_w ? " higher" : " lower"));
  return profile;
}

}  // namespace assay
