#include "power/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "base/numbers.h"
#include "base/random.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kFirstPoll = 50 * kUs;
constexpr int64_t kStepIdle = 2000 * kMillisecondNs;  // long enough for one-second averages
constexpr int64_t kStepLoad = 2500 * kMillisecondNs;
constexpr uint32_t kPulses = 120;
// Long enough for the waves of a sensor of 100 ms; fewer than kLeastPulses do not determine window
// and delay.
constexpr int64_t kWavesNs = 40'000 * kMillisecondNs;
constexpr uint32_t kLeastPulses = 48;
// Lengths of short pulses and of the gaps between them, in windows.
constexpr std::array kShortLengths = {0.25, 0.5, 1.0, 2.0, 4.0};
constexpr double kShortestGap = 0.5;
constexpr double kLongestGap = 2.5;
constexpr int64_t kShortReadings = 250;
constexpr int64_t kShortNs = 25'000 * kMillisecondNs;  // but at least kLeastShort pulses
constexpr uint32_t kLeastShort = 30;
constexpr int64_t kPollsPerPeriod = 200;
constexpr int64_t kKernelsPerWindow = 20;
constexpr int64_t kOneSecondFrom = 800 * kMillisecondNs;
constexpr double kLeastExplained = 0.8;
constexpr double kShortest = 0.6;  // of waves, in units of the time that a sample takes to follow
constexpr double kLongest = 2.4;
constexpr size_t kGrid = 48;
constexpr double kGolden = 0.6180339887498949;
constexpr std::array<const char*, 3> kLoads = {"triad:4MiB", "triad:64MiB", "triad:1GiB"};

// Least squares of sample = idle + (load - idle) share, for one window and delay.
struct Line {
  double idle_w = 0;
  double slope_w = 0;
  double squares = 0;  // of the residuals
};

Line fit_line(const std::vector<SensorUpdate>& updates, const LoadIntegral& load, int64_t origin,
              double window, double delay) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (const SensorUpdate& update : updates) {
    const double end = static_cast<double>(update.t_ns - origin) - delay;
    const double x = (load.until(end) - load.until(end - window)) / window;
    const double y = update.power_w;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
    syy += y * y;
  }
  const auto n = static_cast<double>(updates.size());
  const double vxx = sxx - sx * sx / n;
  const double vxy = sxy - sx * sy / n;
  const double vyy = syy - sy * sy / n;
  Line line;
  line.slope_w = vxx > 0 ? vxy / vxx : 0;
  line.idle_w = (sy - line.slope_w * sx) / n;
  line.squares = std::max(0.0, vyy - line.slope_w * vxy);
  return line;
}

// Golden-section search for the minimum of f in [low, high].
template <typename F>
double golden_section(double low, double high, const F& f) {
  double a = high - kGolden * (high - low);
  double b = low + kGolden * (high - low);
  double fa = f(a);
  double fb = f(b);
  for (int step = 0; step < 40 && high - low > 1; ++step) {
    if (fa < fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - kGolden * (high - low);
      fa = f(a);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + kGolden * (high - low);
      fb = f(b);
    }
  }
  return (low + high) / 2;
}

class Calibration {
 public:
  Calibration(PowerDevice& device, const CalibrationOptions& options)
      : device_(device), options_(options), random_(options.seed) {}

  Result<SensorCalibration> run() {
    for (size_t i = 0; i < kLoads.size(); ++i) {
      ASSAY_TRY_ASSIGN(const PreparedKernel kernel, device_.prepare(kLoads[i]));
      ASSAY_TRY_ASSIGN(const auto timed, device_.execute(0, std::vector<uint32_t>(5, kernel.id)));
      loads_[i] = {kernel.id, std::max<int64_t>(1, timed.back().end_ns - timed.back().start_ns)};
    }
    ASSAY_TRY_ASSIGN(const Step step, step_response());
    ASSAY_TRY_ASSIGN(SensorCalibration found, square_waves(step));
    ASSAY_TRY(linearity(found));
    return found;
  }

 private:
  struct Load {
    uint32_t kernel = 0;
    int64_t t_ns = 1;
  };
  struct Step {
    int64_t period_ns = 0;
    int64_t rise_ns = 0;
  };

  void tell(const char* stage, uint32_t done, uint32_t total) const {
    if (options_.progress) options_.progress({stage, done, total});
  }

  // The longest kernel that fits kKernelsPerWindow times into the window.
  const Load& load_for(int64_t window_ns) const {
    const Load* best = &loads_[0];
    for (const Load& load : loads_) {
      if (load.t_ns * kKernelsPerWindow <= window_ns && load.t_ns > best->t_ns) best = &load;
    }
    return *best;
  }

  Status load_for_ns(const Load& load, int64_t duration_ns, BusyTimes& busy) {
    const int64_t count = std::max<int64_t>(1, duration_ns / load.t_ns);
    ASSAY_TRY_ASSIGN(
        const auto done,
        device_.execute(0, std::vector<uint32_t>(static_cast<size_t>(count), load.kernel)));
    busy.emplace_back(done.front().start_ns, done.back().end_ns);
    return Ok{};
  }

  // One step from idle to load: the period, and roughly the time that a sample takes to follow.
  Result<Step> step_response() {
    tell("step", 0, 1);
    BusyTimes busy;
    ASSAY_TRY(device_.start_logging({kFirstPoll}));
    ASSAY_TRY(device_.wait_ns(kStepIdle));
    ASSAY_TRY(load_for_ns(loads_[1], kStepLoad, busy));
    ASSAY_TRY_ASSIGN(const auto polls, device_.stop_logging());
    const std::vector<SensorUpdate> updates = find_updates(polls);
    Step step;
    step.period_ns = update_period_ns(updates);
    if (step.period_ns == 0) {
      return Error{ErrorCode::kUnsupported,
                   "the sensor showed fewer than three values in " +
                       std::to_string((kStepIdle + kStepLoad) / kMillisecondNs) +
                       " ms: it is not a power sensor, or it is stuck",
                   "", -1};
    }
    if (step.period_ns < 3 * kFirstPoll && !device_.facts().virtual_time) {
      return Error{ErrorCode::kUnsupported,
                   "the sensor changes as often as it can be polled: its period cannot be measured",
                   "", -1};
    }
    step.rise_ns = rise(updates, busy.front().first);
    return step;
  }

  // Time in ns from the start of the load until 90 % of the rise; 0 if unknown.
  static int64_t rise(const std::vector<SensorUpdate>& updates, int64_t start) {
    std::vector<double> before;
    std::vector<double> after;
    for (const SensorUpdate& update : updates) {
      (update.t_ns < start ? before : after).push_back(update.power_w);
    }
    if (before.empty() || after.empty()) return 0;
    const double low = median(before);
    const std::vector<double> settled(
        after.end() - static_cast<std::ptrdiff_t>((after.size() + 2) / 3), after.end());
    const double goal = low + 0.9 * (median(settled) - low);
    for (const SensorUpdate& update : updates) {
      if (update.t_ns >= start && update.power_w >= goal) return update.t_ns - start;
    }
    return 0;
  }

  // Long pulses show the time that a sample takes to follow; short ones of about that length show
  // the shape.
  Result<SensorCalibration> square_waves(const Step& step) {
    const int64_t scale = std::max(2 * step.period_ns, step.rise_ns);
    // All pulses use one load, because each load draws different power.
    const Load& load = load_for(std::max(step.period_ns / 4, step.rise_ns));
    ASSAY_TRY_ASSIGN(const PulseTrain pulses, long_pulses(load, step, scale));
    const BoxcarFit alone = fit_boxcar(pulses.updates, pulses.busy, 3 * scale);
    if (alone.explained < kLeastExplained || alone.load_w <= alone.idle_w) {
      return Error{ErrorCode::kUnsupported,
                   "the sensor's samples do not follow the load (a boxcar explains " +
                       std::to_string(std::lround(100 * alone.explained)) +
                       " % of them): is something else running on this GPU?",
                   "", -1};
    }
    ASSAY_TRY_ASSIGN(const PulseTrain brief, short_pulses(load, step, alone));
    const std::vector<PulseTrain> trains = {pulses, brief};
    ASSAY_TRY(hand_on(trains));
    return report(trains, alone);
  }

  Result<PulseTrain> long_pulses(const Load& load, const Step& step, int64_t scale) {
    const uint32_t pulses = pulses_for(scale);
    return logged(step.period_ns, 2 * scale, [&](BusyTimes& busy) -> Status {
      for (uint32_t pulse = 0; pulse < pulses; ++pulse) {
        tell("square waves", pulse, pulses);
        ASSAY_TRY(device_.wait_ns(random_length(scale)));
        ASSAY_TRY(load_for_ns(load, random_length(scale), busy));
      }
      return Ok{};
    });
  }

  Result<PulseTrain> short_pulses(const Load& load, const Step& step, const BoxcarFit& alone) {
    const auto window = static_cast<double>(alone.window_ns);
    const double mean = std::accumulate(kShortLengths.begin(), kShortLengths.end(), 0.0) /
                        static_cast<double>(kShortLengths.size());
    const double pulse_ns = window * (mean + (kShortestGap + kLongestGap) / 2);
    const double wanted_ns = std::min(static_cast<double>(kShortReadings * step.period_ns),
                                      static_cast<double>(kShortNs));
    const auto pulses =
        static_cast<uint32_t>(std::max(wanted_ns / pulse_ns, static_cast<double>(kLeastShort)));
    return logged(step.period_ns, 2 * (alone.window_ns + alone.delay_ns),
                  [&](BusyTimes& busy) -> Status {
                    for (uint32_t pulse = 0; pulse < pulses; ++pulse) {
                      tell("short pulses", pulse, pulses);
                      const double gap = window * random_.uniform(kShortestGap, kLongestGap);
                      ASSAY_TRY(device_.wait_ns(std::llround(gap)));
                      const double length = kShortLengths[pulse % kShortLengths.size()] * window;
                      ASSAY_TRY(load_for_ns(load, std::llround(length), busy));
                    }
                    return Ok{};
                  });
  }

  // The sensor's updates while `work` runs, with idle before and after it.
  template <typename Work>
  Result<PulseTrain> logged(int64_t period_ns, int64_t idle_ns, const Work& work) {
    PulseTrain pulses;
    const int64_t poll_ns = std::max(kUs, period_ns / kPollsPerPeriod);
    ASSAY_TRY(device_.wait_ns(idle_ns));
    ASSAY_TRY(device_.start_logging({poll_ns}));
    ASSAY_TRY(work(pulses.busy));
    ASSAY_TRY(device_.wait_ns(idle_ns));
    ASSAY_TRY_ASSIGN(const auto polls, device_.stop_logging());
    pulses.updates = find_updates(polls);
    if (polls.size() < 2) return pulses;
    const int64_t polled_ns =
        (polls.back().t_ns - polls.front().t_ns) / static_cast<int64_t>(polls.size() - 1);
    pulses.updates =
        on_their_grid(std::move(pulses.updates), update_period_ns(pulses.updates), polled_ns);
    return pulses;
  }

  // Long pulses are run 0, short ones run 1.
  Status hand_on(const std::vector<PulseTrain>& trains) const {
    if (!options_.recorded) return Ok{};
    PowerRunRecord record;
    for (uint32_t run = 0; run < trains.size(); ++run) {
      for (const SensorUpdate& update : trains[run].updates) {
        record.samples.push_back({.t_ns = update.t_ns, .power_w = update.power_w});
      }
      uint32_t pulse = 0;
      for (const auto& [start_ns, end_ns] : trains[run].busy) {
        record.executions.push_back(
            {.run = run, .index = pulse++, .start_ns = start_ns, .end_ns = end_ns});
      }
    }
    return options_.recorded(record);
  }

  // Lengths are not multiples of the period, so that edges fall at any phase of it.
  int64_t random_length(int64_t scale) {
    return std::llround(static_cast<double>(scale) * random_.uniform(kShortest, kLongest));
  }

  // Load and idle of a pulse have one such length each.
  static uint32_t pulses_for(int64_t scale) {
    const double pulse_ns = static_cast<double>(scale) * (kShortest + kLongest);
    const double fit = static_cast<double>(kWavesNs) / pulse_ns;
    return static_cast<uint32_t>(std::clamp<double>(fit, kLeastPulses, kPulses));
  }

  SensorCalibration report(const std::vector<PulseTrain>& trains, const BoxcarFit& fit) const {
    SensorCalibration found;
    found.device = device_.facts().name;
    found.driver = device_.facts().driver;
    found.uuid = device_.facts().uuid;
    found.response = fit_response(trains, fit.window_ns, fit.delay_ns);
    const bool told = found.response.is_boxcar_alone() && !found.response.misfit;
    found.sensor.window_ns = told ? found.response.window.ns : fit.window_ns;
    found.sensor.delay_ns = told ? found.response.delay.ns : fit.delay_ns;
    if (!found.response.is_boxcar_alone()) found.sensor.ramp_ns = found.response.lag_ns();
    found.sensor.period_ns = update_period_ns(trains.front().updates);
    found.sensor.mode = found.sensor.window_ns >= kOneSecondFrom ? SensorMode::kOneSecondAverage
                                                                 : SensorMode::kBoxcar;
    found.sensor.source = "calibrated on this machine";
    found.sensor.reading = device_.facts().documented.reading;
    found.sensor.calibrated = true;
    found.share_sampled = std::min(1.0, static_cast<double>(found.sensor.window_ns) /
                                            static_cast<double>(found.sensor.period_ns));
    found.idle_w = fit.idle_w;
    found.load_w = fit.load_w;
    found.residual_w = fit.residual_w;
    for (const PulseTrain& train : trains) {
      found.updates += static_cast<uint32_t>(train.updates.size());
      found.steps += static_cast<uint32_t>(2 * train.busy.size());
    }
    return found;
  }

  Status linearity(SensorCalibration& found) {
    tell("linearity", 0, 2);
    const SensorModel& sensor = found.sensor;
    const int64_t settle = sensor.window_ns + sensor.delay_ns + sensor.period_ns;
    const int64_t measure = std::max({1000 * kMillisecondNs, 20 * sensor.period_ns});
    const Load& load = load_for(sensor.window_ns);
    BusyTimes busy;
    ASSAY_TRY(device_.wait_ns(settle));
    ASSAY_TRY_ASSIGN(found.linearity_idle,
                     against_counter(sensor, measure, [&] { return device_.wait_ns(measure); }));
    tell("linearity", 1, 2);
    ASSAY_TRY(load_for_ns(load, settle, busy));
    ASSAY_TRY_ASSIGN(found.linearity_load, against_counter(sensor, measure, [&] {
                       return load_for_ns(load, measure, busy);
                     }));
    return Ok{};
  }

  // Ratio of the mean sample to the counter's mean power while `work` runs at steady power; NaN
  // without a counter.
  template <typename Work>
  Result<double> against_counter(const SensorModel& sensor, int64_t measure, const Work& work) {
    const int64_t poll = std::max(kFirstPoll, sensor.period_ns / 10);
    ASSAY_TRY_ASSIGN(const std::optional<double> before, device_.energy_j());
    const int64_t start = device_.now_ns();
    ASSAY_TRY(device_.start_logging({std::min(poll, measure / 10)}));
    const Status worked = work();
    ASSAY_TRY_ASSIGN(const auto polls, device_.stop_logging());
    ASSAY_TRY(worked);
    ASSAY_TRY_ASSIGN(const std::optional<double> after, device_.energy_j());
    if (!before || !after || polls.empty()) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (const PowerSample& sample : polls) sum += sample.power_w;
    const double seconds = static_cast<double>(device_.now_ns() - start) * 1e-9;
    return sum / static_cast<double>(polls.size()) / ((*after - *before) / seconds);
  }

  PowerDevice& device_;
  const CalibrationOptions& options_;
  SplitMix64 random_;
  std::array<Load, kLoads.size()> loads_;
};

}  // namespace

std::vector<SensorUpdate> find_updates(const std::vector<PowerSample>& polls) {
  std::vector<SensorUpdate> updates;
  for (size_t i = 1; i < polls.size(); ++i) {
    if (polls[i].power_w == polls[i - 1].power_w) continue;
    updates.push_back(
        {polls[i - 1].t_ns + (polls[i].t_ns - polls[i - 1].t_ns) / 2, polls[i].power_w});
  }
  return updates;
}

int64_t update_period_ns(const std::vector<SensorUpdate>& updates) {
  if (updates.size() < 3) return 0;
  std::vector<double> intervals;
  for (size_t i = 1; i < updates.size(); ++i) {
    intervals.push_back(static_cast<double>(updates[i].t_ns - updates[i - 1].t_ns));
  }
  const double typical = median(intervals);
  double time = 0;
  double count = 0;
  for (const double interval : intervals) {
    const double periods = std::round(interval / typical);
    if (periods < 1) continue;
    time += interval;
    count += periods;
  }
  return std::llround(time / count);
}

BoxcarFit fit_boxcar(const std::vector<SensorUpdate>& updates, const BusyTimes& busy,
                     int64_t longest_ns) {
  BoxcarFit fit;
  if (updates.size() < 3 || busy.empty()) return fit;
  const int64_t origin = busy.front().first;
  const LoadIntegral load(busy, origin);
  const auto squares = [&](double window, double delay) {
    return fit_line(updates, load, origin, window, delay).squares;
  };
  const auto longest = static_cast<double>(longest_ns);
  // Starts with a coarse grid, because short pulses give several local minima.
  double window = longest;
  double delay = 0;
  double least = squares(window, delay);
  for (size_t i = 0; i < kGrid; ++i) {
    const double w = longest * std::pow(1e-3, static_cast<double>(i) / kGrid);
    for (size_t j = 0; j < kGrid; ++j) {
      const double d = longest * 0.5 * static_cast<double>(j) / kGrid;
      const double found = squares(w, d);
      if (found < least) std::tie(least, window, delay) = std::tuple(found, w, d);
    }
  }
  const double step = longest * 0.5 / kGrid;
  const auto best_delay = [&](double w) {
    // The samples determine the middle of the window best, so the search is around it.
    const double middle = delay + window / 2 - w / 2;
    return golden_section(std::max(0.0, middle - 2 * step), std::max(step, middle + 2 * step),
                          [&](double d) { return squares(w, d); });
  };
  window = golden_section(window * 0.6, std::min(longest, window * 1.6),
                          [&](double w) { return squares(w, best_delay(w)); });
  delay = best_delay(window);
  const Line line = fit_line(updates, load, origin, window, delay);
  const Line nothing = fit_line(updates, load, origin, window, 1e18);
  fit.window_ns = std::llround(window);
  fit.delay_ns = std::llround(delay);
  fit.idle_w = line.idle_w;
  fit.load_w = line.idle_w + line.slope_w;
  fit.residual_w = std::sqrt(line.squares / static_cast<double>(updates.size()));
  fit.explained = nothing.squares > 0 ? 1 - line.squares / nothing.squares : 0;
  return fit;
}

Result<SensorCalibration> calibrate_sensor(PowerDevice& device, const CalibrationOptions& options) {
  return Calibration(device, options).run();
}

}  // namespace assay
