#include "power/calibration.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/stats.h"
#include "devices/simulated.h"
#include "support/pulsed_device.h"

namespace assay {
namespace {

using testing::PulsedDevice;
using testing::PulsedSensor;

TEST(Calibration, UpdatesAreFirstSightingsOfNewValues) {
  std::vector<PowerSample> polls;
  const double watts[] = {1, 1, 2, 2, 2, 3};
  for (int i = 0; i < 6; ++i) polls.push_back({.t_ns = 10 * i, .power_w = watts[i]});
  const auto updates = find_updates(polls);
  ASSERT_EQ(updates.size(), 2U);
  EXPECT_EQ(updates[0].t_ns, 15);
  EXPECT_EQ(updates[1].t_ns, 45);
  EXPECT_EQ(updates[1].power_w, 3);
}

TEST(Calibration, AnUpdateThatRepeatedItsValueDoesNotStretchThePeriod) {
  // Every 100, the third and the sixth unseen.
  const std::vector<SensorUpdate> updates = {{0, 1},   {100, 2}, {300, 3}, {400, 4},
                                             {500, 5}, {700, 6}, {800, 7}};
  EXPECT_EQ(update_period_ns(updates), 100);
  EXPECT_EQ(update_period_ns({{0, 1}, {5, 2}}), 0);
}

TEST(Calibration, AnExactBoxcarIsFoundExactly) {
  // Load from 1000 to 2000 and 3500 to 4200; window 300, delay 120; 100 W idle, 500 W load.
  const std::vector<std::pair<int64_t, int64_t>> busy = {{1000, 2000}, {3500, 4200}};
  const auto overlap = [&](double from, double to) {
    double sum = 0;
    for (const auto& [start, end] : busy) {
      sum += std::max(0.0, std::min(to, double(end)) - std::max(from, double(start)));
    }
    return sum;
  };
  std::vector<SensorUpdate> updates;
  for (int64_t t = 0; t < 6000; t += 37) {
    const double end = static_cast<double>(t) - 120;
    updates.push_back({t, 100 + 400 * overlap(end - 300, end) / 300});
  }
  const BoxcarFit fit = fit_boxcar(updates, busy, 1500);
  EXPECT_NEAR(static_cast<double>(fit.window_ns), 300, 3);
  EXPECT_NEAR(static_cast<double>(fit.delay_ns), 120, 3);
  EXPECT_NEAR(fit.idle_w, 100, 0.5);
  EXPECT_NEAR(fit.load_w, 500, 0.5);
  EXPECT_GT(fit.explained, 0.999);
  const SensorResponse response = fit_response({{updates, busy}}, fit.window_ns, fit.delay_ns);
  EXPECT_EQ(response.kind, ResponseKind::kBoxcar);
  EXPECT_LE(response.ramp.ns, 2);
}

// Sensors that nobody tuned to: window a tenth to all of the period, a ramp of up to 0.7 windows.
PulsedSensor drawn_sensor(uint64_t seed, bool boxcar) {
  SplitMix64 random(seed);
  PulsedSensor sensor;
  sensor.boxcar = boxcar;
  sensor.period_ns = std::array{100e6, 20e6, 1e6}[static_cast<size_t>(random.below(3))];
  sensor.window_ns = sensor.period_ns * random.uniform(0.1, 1) * (boxcar ? 1 : 0.5);
  sensor.ramp_ns = sensor.window_ns * random.uniform(0.1, 0.7);
  sensor.delay_ns = random.chance(0.3) ? 0 : sensor.period_ns * random.uniform(0, 0.3);
  sensor.noise = random.uniform(0.002, 0.01);
  sensor.idle_w = random.uniform(60, 140);
  sensor.load_w = sensor.idle_w + random.uniform(150, 500);
  return sensor;
}

struct Calibrated {
  SensorCalibration found;
  PowerRunRecord record;
};

Calibrated calibrated(const PulsedSensor& sensor, uint64_t seed) {
  PulsedDevice device(sensor, seed);
  Calibrated done;
  CalibrationOptions options;
  options.seed = seed;
  options.recorded = [&](const PowerRunRecord& record) -> Status {
    done.record = record;
    return Ok{};
  };
  auto found = calibrate_sensor(device, options);
  EXPECT_TRUE(found);
  if (found) done.found = *found;
  return done;
}

// The same fit without the short pulses.
SensorResponse by_long_pulses(const Calibrated& done) {
  BusyTimes busy;
  std::vector<SensorUpdate> updates;
  int64_t end = INT64_MAX;
  for (const PowerExecution& pulse : done.record.executions) {
    if (pulse.run == 0) busy.emplace_back(pulse.start_ns, pulse.end_ns);
    if (pulse.run == 1) end = std::min(end, pulse.start_ns);
  }
  for (const PowerSample& sample : done.record.samples) {
    if (sample.t_ns < end) updates.push_back({sample.t_ns, sample.power_w});
  }
  return fit_response({{updates, busy}}, done.found.sensor.window_ns, done.found.sensor.delay_ns);
}

bool holds(const ResponseTime& time, double truth) {
  return static_cast<double>(time.low_ns) - 1 <= truth &&
         truth <= static_cast<double>(time.high_ns) + 1;
}

struct ResponseCoverage {
  std::vector<double> off[3];    // in windows
  std::vector<double> width[3];  // of intervals, likewise
  int inside[3] = {};
  int kind = 0;
  int other_kind = 0;

  void add(const SensorResponse& found, const PulsedSensor& sensor) {
    const std::array told = {&found.window, &found.ramp, &found.delay};
    const std::array truth = {sensor.window_ns, sensor.ramp_ns, sensor.delay_ns};
    for (size_t k = 0; k < 3; ++k) {
      inside[k] += holds(*told[k], truth[k]);
      off[k].push_back(std::fabs(static_cast<double>(told[k]->ns) - truth[k]) / sensor.window_ns);
      width[k].push_back(width_ns(*told[k]) / sensor.window_ns);
    }
    const ResponseKind right = sensor.boxcar ? ResponseKind::kBoxcar : ResponseKind::kExponential;
    kind += found.kind == right;
    other_kind += found.kind != right && found.kind != ResponseKind::kNotTold;
  }
  static double width_ns(const ResponseTime& time) {
    return static_cast<double>(time.high_ns - time.low_ns);
  }
  void print(const char* name, int devices) const {
    std::printf("| %s | %d |", name, devices);
    for (size_t k = 0; k < 3; ++k) {
      std::printf(" %.1f %% (%.2f %%, %.2f %%) |", 100.0 * inside[k] / devices,
                  100 * median(off[k]), 100 * median(width[k]) / 2);
    }
    std::printf(" %d, %d |\n", kind, other_kind);
  }
};

// A load whose power is no step, but begins a tenth above what it settles at: the response is told
// as one that does not fit, and intervals hold the truth all the same.
TEST(Calibration, ALoadOtherThanAStepIsReported) {
  constexpr int kDevices = 12;
  int inside = 0;
  for (uint64_t seed = 630'000; seed < 630'000 + kDevices; ++seed) {
    PulsedSensor sensor = drawn_sensor(seed, true);
    sensor.boost = 0.1;
    sensor.boost_ns = 3 * sensor.window_ns;
    const SensorResponse found = calibrated(sensor, seed).found.response;
    EXPECT_TRUE(found.misfit) << seed;
    inside += holds(found.window, sensor.window_ns) && holds(found.ramp, sensor.ramp_ns);
  }
  EXPECT_GE(inside, kDevices - 1);
}

// With ASSAY_DEVICES=200 the table of docs/measured/calibration.md is printed.
int devices_asked(int otherwise) {
  const char* asked = std::getenv("ASSAY_DEVICES");
  return asked == nullptr ? otherwise : std::atoi(asked);
}

// Long pulses of random lengths tell both as well, less well: one alone shows window/2 + ramp only.
TEST(Calibration, ShortPulsesSeparateRampAndWindow) {
  const int devices = devices_asked(12);
  for (const bool boxcar : {true, false}) {
    ResponseCoverage with;
    ResponseCoverage without;
    for (int i = 0; i < devices; ++i) {
      const uint64_t seed = (boxcar ? 610'000U : 620'000U) + static_cast<uint64_t>(i);
      const PulsedSensor sensor = drawn_sensor(seed, boxcar);
      const Calibrated done = calibrated(sensor, seed);
      with.add(done.found.response, sensor);
      without.add(by_long_pulses(done), sensor);
      EXPECT_TRUE(done.found.response.told_apart()) << seed;
    }
    for (size_t k = 0; k < 3; ++k) {
      // Three standard errors below 0.95.
      EXPECT_GE(with.inside[k], devices * 0.95 - 3 * std::sqrt(devices * 0.95 * 0.05)) << k;
    }
    EXPECT_LT(median(with.off[0]), 0.01);
    EXPECT_LT(median(with.off[1]), 0.01);
    EXPECT_GT(median(without.width[0]), 1.1 * median(with.width[0]));
    EXPECT_EQ(with.other_kind, 0);
    EXPECT_GE(with.kind, devices * 0.9);
    if (std::getenv("ASSAY_DEVICES") == nullptr) continue;
    with.print(boxcar ? "boxcar" : "exponential", devices);
    without.print(boxcar ? "boxcar, long pulses alone" : "exponential, long pulses alone", devices);
  }
}

std::vector<std::array<std::string, 2>> two_columns(const std::string& name) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/measured/2026-11-26-nvidia-h200/" +
                     name);
  std::vector<std::array<std::string, 2>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const size_t comma = line.find(',');
    rows.push_back({line.substr(0, comma), line.substr(comma + 1)});
  }
  return rows;
}

// What an H200 showed, by long pulses alone: no window, but a time constant of half the 25 ms that
// public measurements of its kind say, as an A100 has it. Readings beside a switch scatter more
// than under steady load, and whose time constant it is stays open.
TEST(Calibration, AnH200FollowsWithATimeConstant) {
  std::vector<SensorUpdate> updates;
  BusyTimes busy;
  for (const auto& [t, w] : two_columns("calibration_samples.csv"))
    updates.push_back({std::stoll(t), std::stod(w)});
  for (const auto& [from, to] : two_columns("calibration_pulses.csv")) {
    busy.emplace_back(std::stoll(from), std::stoll(to));
  }
  ASSERT_EQ(updates.size(), 373U);
  ASSERT_EQ(busy.size(), 66U);
  const BoxcarFit alone = fit_boxcar(updates, busy, 600'000'000);
  EXPECT_NEAR(static_cast<double>(alone.window_ns), 28.6e6, 1e6);
  const SensorResponse fit = fit_response({{on_their_grid(updates, 100'018'628, 500'000), busy}},
                                          alone.window_ns, alone.delay_ns);
  EXPECT_LT(fit.residual_w, 8);
  EXPECT_TRUE(fit.misfit);
  EXPECT_EQ(fit.kind, ResponseKind::kExponential);
  EXPECT_TRUE(holds(fit.window, 12.5e6));
  EXPECT_LT(fit.ramp.high_ns, 6'000'000);
  EXPECT_EQ(fit.ramp.low_ns, 0);
  EXPECT_FALSE(fit.is_boxcar_alone());
}

// Noise hides which kind of mean it is: the times then are those of a boxcar, as is said, though
// an exponential mean may leave less.
TEST(Calibration, TimesWithoutAKindAreThoseOfABoxcar) {
  size_t not_told = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    PulsedSensor sensor = drawn_sensor(740'000 + seed, false);
    sensor.period_ns = 20e6;
    sensor.window_ns = 10e6;
    sensor.ramp_ns = 5e6;
    sensor.delay_ns = 0;
    sensor.noise = 0.08;
    const SensorResponse response = calibrated(sensor, seed).found.response;
    if (response.kind != ResponseKind::kNotTold) continue;
    ++not_told;
    // A boxcar as late as both lags is about twice as wide as they are.
    const double late_ns = static_cast<double>(response.window.ns) / 2 +
                           static_cast<double>(response.ramp.ns + response.delay.ns);
    EXPECT_NEAR(late_ns, 15e6, 4e6) << seed;
  }
  EXPECT_GT(not_told, 0U);
}

// A fast reading of a slow answer gives tens of thousands of readings.
TEST(Calibration, ManySamplesAreFittedAsWell) {
  PulsedSensor sensor = drawn_sensor(740'100, true);
  sensor.period_ns = 1e6;
  sensor.window_ns = 100e6;
  sensor.ramp_ns = 20e6;
  sensor.delay_ns = 0;
  const Calibrated done = calibrated(sensor, 740'100);
  EXPECT_GT(done.found.updates, 30'000U);
  EXPECT_TRUE(holds(done.found.response.window, sensor.window_ns));
  EXPECT_TRUE(holds(done.found.response.ramp, sensor.ramp_ns));
}

TEST(Calibration, FindsTheTrueSensorOfManySimulatedDevices) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto device = make_simulated_device(seed, {});
    const auto found = calibrate_sensor(*device, {.seed = seed, .progress = {}, .recorded = {}});
    ASSERT_TRUE(found) << seed << ": " << found.error().message;
    const SensorModel truth = device->truth()->sensor;
    const auto period = static_cast<double>(truth.period_ns);
    const auto window = static_cast<double>(truth.window_ns);
    const auto delay = static_cast<double>(truth.delay_ns);
    EXPECT_NEAR(static_cast<double>(found->sensor.period_ns), period, 0.001 * period) << seed;
    EXPECT_NEAR(static_cast<double>(found->sensor.window_ns), window, 0.05 * window)
        << seed << " " << device->truth()->kind;
    // A delay far below the window is known to a fiftieth of the window.
    EXPECT_NEAR(static_cast<double>(found->sensor.delay_ns), delay,
                std::max(0.05 * delay, 0.02 * window))
        << seed << " " << device->truth()->kind << " of window " << window;
    EXPECT_EQ(found->sensor.ramp_ns, 0) << seed << " " << device->truth()->kind;
    EXPECT_TRUE(holds(found->response.window, window)) << seed;
    EXPECT_NEAR(found->linearity_idle, 1, 0.01) << seed;
    EXPECT_NEAR(found->linearity_load, 1, 0.01) << seed;
    EXPECT_EQ(found->sensor.mode == SensorMode::kOneSecondAverage, window >= 8e8) << seed;
  }
}

TEST(Calibration, AGainShowsInTheLinearity) {
  const auto knobs = parse_simulated_knobs("kind=nvml,gain=1.05");
  const auto device = make_simulated_device(5, *knobs);
  const auto found = calibrate_sensor(*device, {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->linearity_idle, 1.05, 0.01);
  EXPECT_NEAR(found->linearity_load, 1.05, 0.01);
}

TEST(Calibration, SamplesThatDoNotFollowTheLoadAreRefused) {
  const auto knobs = parse_simulated_knobs("kind=logger,noise=0.9");
  const auto device = make_simulated_device(5, *knobs);
  const auto found = calibrate_sensor(*device, {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("do not follow the load"), std::string::npos);
}

}  // namespace
}  // namespace assay
