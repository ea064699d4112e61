#include "power/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
}

TEST(Calibration, FindsTheTrueSensorOfManySimulatedDevices) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto device = make_simulated_device(seed, {});
    const auto found = calibrate_sensor(*device, {.seed = seed, .progress = {}});
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

// ---- a response that need not be a boxcar ----

struct MadePulses {
  std::vector<std::pair<int64_t, int64_t>> busy;
  std::vector<SensorUpdate> updates;
};

// 120 pulses of random lengths as calibration plays them, seen by a device ramp and a sensor that
// is a mean over `window_s` behind a ramp; all in seconds, 0.5 % of noise.
MadePulses pulses(uint64_t seed, double window_s, double sensor_ramp_s, double device_ramp_s,
                  double period_s) {
  constexpr double kStepS = 2.5e-4;
  constexpr double kDelayS = 0.004;
  SplitMix64 random(seed);
  MadePulses made;
  const double scale = std::max(2 * period_s, window_s + 2 * sensor_ramp_s);
  double now = 2 * scale;
  std::vector<double> power;
  const auto hold = [&](double seconds, double watts) {
    const auto until = static_cast<size_t>((now + seconds) / kStepS);
    while (power.size() < until) power.push_back(watts);
    now += seconds;
  };
  hold(0, 80);
  for (int i = 0; i < 120; ++i) {
    hold(scale * random.uniform(0.6, 2.4), 80);
    const auto start = static_cast<int64_t>(static_cast<double>(power.size()) * kStepS * 1e9);
    hold(scale * random.uniform(0.6, 2.4), 400);
    const auto end = static_cast<int64_t>(static_cast<double>(power.size()) * kStepS * 1e9);
    made.busy.emplace_back(start, end);
  }
  hold(2 * scale, 80);
  for (const double ramp_s : {device_ramp_s, sensor_ramp_s}) {
    double y = power.front();
    for (double& x : power) x = y = ramp_s > 0 ? x + (y - x) * std::exp(-kStepS / ramp_s) : x;
  }
  std::vector<double> energy{0};
  for (const double x : power) energy.push_back(energy.back() + x * kStepS);
  const auto until = [&](double t) {
    const double place = std::clamp(t / kStepS, 0.0, static_cast<double>(energy.size()) - 1.001);
    const auto at = static_cast<size_t>(place);
    return energy[at] + (place - static_cast<double>(at)) * (energy[at + 1] - energy[at]);
  };
  for (double t = window_s + 0.1; t < now; t += period_s) {
    const double mean = (until(t - kDelayS) - until(t - kDelayS - window_s)) / window_s;
    made.updates.push_back({static_cast<int64_t>(t * 1e9), mean * (1 + 0.005 * random.normal())});
  }
  return made;
}

struct ResponseCount {
  int window = 0;
  int ramp = 0;
  int delay = 0;
  int boxcars = 0;
};

ResponseCount count_inside(int jobs, uint64_t seed, double window_s, double sensor_ramp_s) {
  ResponseCount count;
  for (int i = 0; i < jobs; ++i) {
    const MadePulses made =
        pulses(seed + static_cast<uint64_t>(i), window_s, sensor_ramp_s, 0, 0.1);
    const BoxcarFit boxcar = fit_boxcar(made.updates, made.busy, 600'000'000);
    const SensorResponse found = fit_response(made.updates, made.busy, boxcar, 1);
    EXPECT_TRUE(found.known);
    const auto holds = [](const LengthBetween& part, double s) {
      return static_cast<double>(part.low_ns) * 1e-9 <= s + 5e-4 &&
             static_cast<double>(part.high_ns) * 1e-9 >= s - 5e-4;
    };
    count.window += holds(found.window, window_s) ? 1 : 0;
    count.ramp += holds(found.ramp, sensor_ramp_s) ? 1 : 0;
    count.delay += holds(found.delay, 0.004) ? 1 : 0;
    count.boxcars += found.is_boxcar() ? 1 : 0;
  }
  return count;
}

TEST(Calibration, WindowRampAndDelayAreToldApart) {
  constexpr int kJobs = 10;
  struct Scene {
    double window_s;
    double ramp_s;
    bool boxcar;
  };
  for (const Scene& scene :
       {Scene{0.1, 0, true}, Scene{0.025, 0, true}, Scene{0.025, 0.0125, false},
        Scene{0.005, 0.05, false}, Scene{0.1, 0.04, false}}) {
    const ResponseCount count = count_inside(kJobs, 880'000, scene.window_s, scene.ramp_s);
    const std::string what = std::to_string(scene.window_s) + " " + std::to_string(scene.ramp_s);
    EXPECT_GE(count.window, 8) << what;
    EXPECT_GE(count.ramp, 8) << what;
    EXPECT_GE(count.delay, 8) << what;
    EXPECT_EQ(count.boxcars >= kJobs / 2, scene.boxcar) << what << " " << count.boxcars;
  }
}

}  // namespace
}  // namespace assay
