#include "power/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace assay
