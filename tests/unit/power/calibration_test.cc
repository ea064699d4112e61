#include "power/calibration.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "devices/simulated.h"

namespace assay {
namespace {

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
  EXPECT_EQ(fit_ramp(updates, busy, fit).ramp_ns, 0);
}

// Power that follows the load with a time constant of 10 ms, seen through a window of 25 ms every
// 100 ms, 5 ms late, with 2 W of noise: a window alone is told too long, the fit with a ramp holds
// both.
TEST(Calibration, ARampOfTheGpuIsNotTakenForTheWindow) {
  constexpr double kMs = 1e6;
  SplitMix64 random(5);
  std::vector<std::pair<int64_t, int64_t>> busy;
  double at = 300 * kMs;
  for (int pulse = 0; pulse < 66; ++pulse) {
    const double length = random.uniform(120, 480) * kMs;
    busy.emplace_back(std::llround(at), std::llround(at + length));
    at += length + random.uniform(120, 480) * kMs;
  }
  std::vector<double> power;  // every 0.1 ms
  double level = 0;
  size_t next = 0;
  for (double t = 0; t < at; t += 0.1 * kMs) {
    while (next < busy.size() && t >= static_cast<double>(busy[next].second)) ++next;
    const bool on = next < busy.size() && t >= static_cast<double>(busy[next].first);
    level += ((on ? 1 : 0) - level) * (1 - std::exp(-0.1 / 10));
    power.push_back(level);
  }
  std::vector<SensorUpdate> updates;
  for (double t = 100 * kMs; t < at - 1 * kMs; t += 100 * kMs) {
    const auto end = static_cast<size_t>((t - 5 * kMs) / (0.1 * kMs));
    double sum = 0;
    for (size_t i = end - 250; i < end; ++i) sum += power[i];
    updates.push_back({std::llround(t), 120 + 450 * sum / 250 + 2 * random.uniform(-1, 1)});
  }
  const BoxcarFit alone = fit_boxcar(updates, busy, std::llround(600 * kMs));
  EXPECT_GT(static_cast<double>(alone.window_ns), 30 * kMs);
  const RampedFit fit = fit_ramp(updates, busy, alone);
  EXPECT_GT(fit.ramp_ns, 0);
  EXPECT_LE(static_cast<double>(fit.window_low_ns), 25 * kMs);
  EXPECT_GE(static_cast<double>(fit.window_high_ns), 25 * kMs);
  EXPECT_LE(static_cast<double>(fit.ramp_low_ns), 11 * kMs);
  EXPECT_GE(static_cast<double>(fit.ramp_high_ns), 9 * kMs);
  EXPECT_LT(fit.residual_w, alone.residual_w / 1.25);
}

std::vector<std::array<double, 2>> two_columns(const std::string& name) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/measured/2026-11-26-nvidia-h200/" +
                     name);
  std::vector<std::array<double, 2>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const size_t comma = line.find(',');
    rows.push_back({std::stod(line.substr(0, comma)), std::stod(line.substr(comma + 1))});
  }
  return rows;
}

// What an H200 showed: public measurements of its kind say 25 ms, and a window alone fits at 29 ms.
TEST(Calibration, OnAnH200WindowAndRampAreNotToldApart) {
  std::vector<SensorUpdate> updates;
  std::vector<std::pair<int64_t, int64_t>> busy;
  // Times are beyond a double's whole numbers: what is lost are fractions of a microsecond.
  for (const auto& [t, w] : two_columns("calibration_samples.csv"))
    updates.push_back({std::llround(t), w});
  for (const auto& [from, to] : two_columns("calibration_pulses.csv")) {
    busy.emplace_back(std::llround(from), std::llround(to));
  }
  ASSERT_EQ(updates.size(), 373U);
  ASSERT_EQ(busy.size(), 66U);
  const BoxcarFit alone = fit_boxcar(updates, busy, 600'000'000);
  EXPECT_NEAR(static_cast<double>(alone.window_ns), 28.6e6, 1e6);
  const RampedFit fit = fit_ramp(updates, busy, alone);
  EXPECT_GT(fit.ramp_ns, 5'000'000);
  EXPECT_LT(fit.window_low_ns, 15'000'000);
  EXPECT_LT(fit.window_high_ns, alone.window_ns);
  EXPECT_LT(fit.residual_w, 12.5);
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

TEST(Calibration, ReadingsThatDoNotFollowTheLoadAreRefused) {
  const auto knobs = parse_simulated_knobs("kind=logger,noise=0.9");
  const auto device = make_simulated_device(5, *knobs);
  const auto found = calibrate_sensor(*device, {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("do not follow the load"), std::string::npos);
}

}  // namespace
}  // namespace assay
