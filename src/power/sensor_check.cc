#include "power/sensor_check.h"

#include <algorithm>
#include <cmath>

#include "power/joint/fit.h"

namespace assay {
namespace {

constexpr double kPeriodS = 0.1;  // one period of the sensor on the time scale of the fit
constexpr size_t kMostRuns = 60;  // evenly spread over the measurement run
constexpr size_t kFewestToCheck = 120;
constexpr size_t kWarm = 3;       // first executions of a run, which are not settled
constexpr double kBesideRun = 3;  // periods of idle used before and after a run
constexpr double kSurelyExplained = 0.98;
// Phases inside kernels and falling power change the fitted values by up to a tenth. Only larger
// differences are due to the sensor.
constexpr double kOther = 0.2;       // of the declared window: window + 2 ramp, or the delay
constexpr double kOtherRamp = 0.25;  // of it: the response is no boxcar
constexpr double kClearlyWorse = 4;  // ratio of the squared residuals of the samples, declared over
                                     // found

// Runs concatenated without the time between them, on a time scale in which the sensor's period is
// kPeriodS.
struct LaidRuns {
  JointProblem problem;
  double scale = 0;  // seconds of the fit per nanosecond
};

LaidRuns lay_runs(const PowerRecording& recording, const std::vector<RunView>& runs,
                  const TimedSamples& samples, int64_t period_ns) {
  LaidRuns laid;
  laid.scale = kPeriodS / static_cast<double>(period_ns);
  laid.problem.classes.resize(2);
  const auto beside_ns = static_cast<int64_t>(kBesideRun * static_cast<double>(period_ns)) +
                         recording.sensor.window_ns;
  const size_t step = (runs.size() + kMostRuns - 1) / kMostRuns;
  double behind = 1;
  for (size_t r = 0; r < runs.size(); r += step) {
    const RunView& run = runs[r];
    const int64_t begin = recording.executions[run.first].start_ns - beside_ns;
    const int64_t end = recording.executions[run.ssp].end_ns + beside_ns;
    const auto at = [&](int64_t t_ns) {
      return behind + static_cast<double>(t_ns - begin) * laid.scale;
    };
    for (size_t e = run.first; e <= run.ssp; ++e) {
      const PowerExecution& execution = recording.executions[e];
      laid.problem.classes[e - run.first < kWarm ? 0 : 1].push_back(
          {at(execution.start_ns), at(execution.end_ns)});
    }
    // Samples without neighbouring runs in their window.
    const auto& executions = recording.executions;
    const int64_t from = run.first == 0 ? begin + recording.sensor.window_ns
                                        : std::max(begin, executions[run.first - 1].end_ns) +
                                              recording.sensor.window_ns;
    const int64_t until =
        run.ssp + 1 < executions.size() ? std::min(end, executions[run.ssp + 1].start_ns) : end;
    auto sample =
        std::lower_bound(samples.samples.begin(), samples.samples.end(), from,
                         [](const TimedSample& one, int64_t t_ns) { return one.t_ns < t_ns; });
    for (; sample != samples.samples.end() && sample->t_ns <= until; ++sample) {
      laid.problem.updates.push_back({at(sample->t_ns), recording.samples[sample->sample].power_w});
    }
    behind = at(end) + 1;
  }
  return laid;
}

double settled_power(const JointFit& fit) { return fit.powers_w[0] + fit.powers_w[2]; }

}  // namespace

std::string_view sensor_verdict_name(SensorVerdict verdict) {
  switch (verdict) {
    case SensorVerdict::kHolds:
      return "holds";
    case SensorVerdict::kOther:
      return "other";
    case SensorVerdict::kUnexplained:
      return "unexplained";
    case SensorVerdict::kUnasked:
      break;
  }
  return "unasked";
}

SensorCheck check_sensor(const PowerRecording& recording, const std::vector<RunView>& runs,
                         const TimedSamples& samples, int64_t t_exec_ns) {
  SensorCheck check;
  const SensorModel& sensor = recording.sensor;
  const bool alone = std::all_of(runs.begin(), runs.end(), [](const RunView& run) {
    return run.block == run.first && run.ssp - run.first > kWarm;
  });
  const bool told = alone && sensor.window_ns > 0 && sensor.period_ns > 0 &&
                    kExecutionsToCheck * static_cast<double>(t_exec_ns) <=
                        static_cast<double>(sensor.window_ns) &&
                    sensor.window_ns <= 4 * sensor.period_ns;
  if (!told || runs.empty()) return check;
  LaidRuns laid = lay_runs(recording, runs, samples, sensor.period_ns);
  if (laid.problem.updates.size() < kFewestToCheck) return check;
  const double window_s = static_cast<double>(sensor.window_ns) * laid.scale;
  JointProblem declared = laid.problem;
  declared.prior = {{0, 0}, {window_s, window_s}, {0, 0}, 0};
  laid.problem.prior = {{-window_s / 2, window_s + kPeriodS / 2},
                        {window_s / 20, 3.5 * window_s},
                        {0, std::min(2.5 * window_s, 0.25)},
                        0};
  const JointFit free = fit_jointly(std::move(laid.problem));
  const auto ns = [&](double s) { return std::llround(s / laid.scale); };
  const double ramp_s = ramp_list_s()[free.response.ramp];
  check.explained = free.explained;
  check.window_ns = ns(free.response.window_s);
  check.window_low_ns = ns(free.window_s.low);
  check.window_high_ns = ns(free.window_s.high);
  check.ramp_ns = ns(ramp_s);
  check.delay_ns = ns(free.response.lag_s);
  check.found_ssp_w = settled_power(free);
  if (free.explained < kSurelyExplained) {
    check.verdict = SensorVerdict::kUnexplained;
    return check;
  }
  const double spread_s = free.response.window_s + 2 * ramp_s;
  const bool other = std::fabs(spread_s - window_s) > kOther * window_s ||
                     std::fabs(free.response.lag_s) > kOther * window_s ||
                     ramp_s > kOtherRamp * window_s;
  check.verdict = SensorVerdict::kHolds;
  if (!other) return check;
  // Any response fits samples without a rise, so the declared one must be clearly worse.
  const JointFit held = fit_jointly(std::move(declared));
  const double floor = free.noise_w * free.noise_w * static_cast<double>(free.readings);
  if (held.squares < kClearlyWorse * std::max(free.squares, floor)) return check;
  check.verdict = SensorVerdict::kOther;
  check.declared_ssp_w = settled_power(held);
  return check;
}

}  // namespace assay
