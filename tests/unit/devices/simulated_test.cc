#include "devices/simulated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

std::unique_ptr<SimulatedDevice> device_with(const std::string& knobs, uint64_t seed = 7) {
  const auto parsed = parse_simulated_knobs(knobs);
  EXPECT_TRUE(parsed);
  return make_simulated_device(seed, *parsed);
}

struct Session {
  std::vector<PowerExecution> executions;
  std::vector<PowerSample> samples;
};

Session run_once(SimulatedDevice& device, const char* workload, uint32_t count,
                 int64_t poll_ns = 0) {
  const auto kernel = device.prepare(workload);
  EXPECT_TRUE(kernel);
  EXPECT_TRUE(device.start_logging({poll_ns}));
  EXPECT_TRUE(device.wait_ns(3 * kMs));
  auto executions = device.execute(0, std::vector<uint32_t>(count, kernel->id));
  EXPECT_TRUE(executions);
  EXPECT_TRUE(device.wait_ns(3 * kMs));
  auto samples = device.stop_logging();
  EXPECT_TRUE(samples);
  return {*executions, *samples};
}

constexpr const char* kExact =
    "kind=logger,window=1ms,period=1ms,delay=0,drift=0,noise=0,outliers=0,boost=0,flat=1,idle=100,"
    "t=100us";

TEST(SimulatedDevice, ABoxcarClimbsFromIdleAsTheClosedFormSays) {
  // spec/power 2.1: at time t after the start the reading is idle + (kernel - idle) min(1, t/w).
  auto device = device_with(kExact);
  const Session session = run_once(*device, "gemm:2048", 40);
  const double kernel_w = device->truth()->kernels[0].ssp_w;
  const int64_t start = session.executions.front().start_ns;
  const int64_t end = session.executions.back().end_ns;
  const auto probe = device->probe();
  ASSERT_TRUE(probe);
  const double ns_per_tick = 1e9 / device->facts().tick_hz;
  const double offset =
      static_cast<double>(probe->gpu_ticks) * ns_per_tick - static_cast<double>(probe->c0_ns);
  int checked = 0;
  for (const PowerSample& sample : session.samples) {
    const double t = static_cast<double>(sample.t_ns) - offset - static_cast<double>(start);
    if (t < 0 || t > static_cast<double>(end - start)) continue;
    // The offset is known to the read's delay, a few us of 1 ms; three warm-ups draw the same
    // energy above idle over up to 48 us more.
    const double want = 100 + (kernel_w - 100) * std::min(1.0, t / 1e6);
    EXPECT_NEAR(sample.power_w, want, 0.06 * (kernel_w - 100));
    if (t > 1.5e6) {
      EXPECT_NEAR(sample.power_w, kernel_w, 1e-6 * kernel_w);
    }
    ++checked;
  }
  EXPECT_GE(checked, 3);
}

TEST(SimulatedDevice, WarmUpsAreSlowerAndTheRestScattersByATenthOfAPercent) {
  auto device = device_with(kExact);
  const Session session = run_once(*device, "gemm:2048", 10);
  const KernelTruth truth = device->truth()->kernels[0];
  for (const PowerExecution& one : session.executions) {
    const int64_t took = one.end_ns - one.start_ns;
    if (one.index < 3) {
      EXPECT_GT(took, 105'000);
    } else {
      EXPECT_GE(took, truth.common_low_ns - 1);
      EXPECT_LE(took, truth.common_high_ns + 1);
    }
  }
}

TEST(SimulatedDevice, TheSameSeedAndCallsGiveTheSameBytes) {
  auto a = device_with("", 42);
  auto b = device_with("", 42);
  const Session first = run_once(*a, "gemm:4096", 30);
  const Session second = run_once(*b, "gemm:4096", 30);
  ASSERT_EQ(first.samples.size(), second.samples.size());
  for (size_t i = 0; i < first.samples.size(); ++i) {
    EXPECT_EQ(first.samples[i].t_ns, second.samples[i].t_ns);
    EXPECT_EQ(first.samples[i].power_w, second.samples[i].power_w);
  }
  EXPECT_EQ(first.executions.back().end_ns, second.executions.back().end_ns);
  EXPECT_NE(device_with("", 43)->truth()->drift_ppm, a->truth()->drift_ppm);
}

TEST(SimulatedDevice, TheCounterDriftsAsTheTruthSays) {
  auto device = device_with("drift=42");
  const auto early = device->probe();
  ASSERT_TRUE(device->wait_ns(1000 * 1000 * kMs));
  const auto late = device->probe();
  const double gpu =
      static_cast<double>(late->gpu_ticks - early->gpu_ticks) * 1e9 / device->facts().tick_hz;
  const auto cpu = static_cast<double>(late->c0_ns - early->c0_ns);
  EXPECT_NEAR((gpu / cpu - 1) * 1e6, 42, 0.1);
}

TEST(SimulatedDevice, EnergyIsPowerOverTime) {
  auto device = device_with(kExact);
  run_once(*device, "gemm:2048", 10);
  const double before = **device->energy_j();
  ASSERT_TRUE(device->wait_ns(2000 * kMs));
  EXPECT_NEAR(**device->energy_j() - before, 200, 1e-4);  // 100 W for 2 s
}

TEST(SimulatedDevice, ThrottlingRisesThenFalls) {
  auto device = device_with(
      "kind=logger,noise=0,outliers=0,boost=0.2,flat=1,delay=0,period=1ms,window=100us,t=200us,"
      "idle=0");
  const Session session = run_once(*device, "gemm:2048", 200);  // 40 ms; settled by 16 ms
  const double settled = device->truth()->kernels[0].ssp_w;
  const auto hottest = std::max_element(
      session.samples.begin(), session.samples.end(),
      [](const PowerSample& a, const PowerSample& b) { return a.power_w < b.power_w; });
  EXPECT_NEAR(hottest->power_w, 1.2 * settled, 0.001 * settled);
  EXPECT_NEAR(session.samples[session.samples.size() - 6].power_w, settled, 0.001 * settled);
}

TEST(SimulatedDevice, PollsRepeatTheLastSample) {
  auto device = device_with(kExact);
  const Session session = run_once(*device, "gemm:2048", 50, 50'000);
  std::vector<int64_t> changes;
  for (size_t i = 1; i < session.samples.size(); ++i) {
    EXPECT_EQ(session.samples[i].t_ns - session.samples[i - 1].t_ns, 50'000);
    if (session.samples[i].power_w != session.samples[i - 1].power_w) {
      changes.push_back(session.samples[i].t_ns);
    }
  }
  ASSERT_GE(changes.size(), 2U);
  for (size_t i = 1; i < changes.size(); ++i) EXPECT_EQ((changes[i] - changes[i - 1]) % kMs, 0);
}

TEST(SimulatedDevice, OutlierRunsAreSlowerAndKnown) {
  auto device = device_with("outliers=0.3,boost=0,t=300us", 3);
  const auto kernel = device->prepare("gemm:2048");
  int outliers = 0;
  for (uint32_t run = 0; run < 200; ++run) {
    ASSERT_TRUE(device->wait_ns(50 * kMs));
    const auto executions = device->execute(run, std::vector<uint32_t>(5, kernel->id));
    const int64_t took = executions->back().end_ns - executions->back().start_ns;
    if (device->common_mode(run)) {
      EXPECT_LE(took, device->truth()->kernels[0].common_high_ns);
    } else {
      EXPECT_GT(took, 320'000);
      ++outliers;
    }
  }
  EXPECT_NEAR(outliers, 60, 25);
}

TEST(SimulatedDevice, TheTrueCurveIsFlatWhenTheWindowIsAWholeNumberOfExecutions) {
  // spec/power 2.2: a boxcar of k T is flat in TOI.
  auto device = device_with("kind=logger,window=1ms,t=250us,smooth=1");
  ASSERT_TRUE(device->prepare("gemm:2048"));
  const KernelTruth truth = device->truth()->kernels[0];
  for (const auto& [toi, watts] : truth.curve) EXPECT_NEAR(watts, truth.ssp_w, 1e-9 * truth.ssp_w);
  EXPECT_NEAR(truth.ssp_w * 250e-6, truth.energy_j, 1e-12);
}

TEST(SimulatedDevice, KnobsThatMakeNoSenseAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"window", "name=value"},        {"window=abc", "ns, us, ms or s"}, {"window=-1", "a time"},
      {"colour=3", "no such setting"}, {"kind=blue", "one of logger"},    {"noise=7", "range"},
      {"t=1h", "ns, us, ms or s"},
  };
  for (const auto& [text, says] : cases) {
    const auto knobs = parse_simulated_knobs(text);
    ASSERT_FALSE(knobs) << text;
    EXPECT_THAT(knobs.error().message, HasSubstr(says)) << text;
  }
}

TEST(OpenDevice, UnknownNamesAreErrors) {
  EXPECT_FALSE(open_device("gpu", 1));
  const auto device = open_device("simulated:window=2ms", 1);
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->truth()->sensor.window_ns, 2 * kMs);
}

}  // namespace
}  // namespace assay
