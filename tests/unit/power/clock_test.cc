#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "power/profile.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kEpoch = 1'700'000'000'000'000'000;  // where doubles lose 256 ns
constexpr int64_t kCounter = 1'234'567'890'123'456;

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Probes over `span_ns`: the read happens `forward` after c0 and returns 3 us later; one in ten has
// 9 us and one in fifty 15 us to go, as in spec/power 3. Counter in ns with `drift_ppm`.
std::vector<ClockProbe> probes_with(double drift_ppm, size_t n, int64_t span_ns, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ClockProbe> probes;
  for (size_t i = 0; i < n; ++i) {
    const int64_t at = span_ns * static_cast<int64_t>(i) / static_cast<int64_t>(n);
    int64_t forward = 3000 + static_cast<int64_t>(uniform(random) * 500);
    const double draw = uniform(random);
    if (draw < 0.1) forward = 9000;
    if (draw > 0.98) forward = 15000;
    const double gpu = static_cast<double>(at + forward) * (1 + drift_ppm * 1e-6);
    probes.push_back({kEpoch + at, kCounter + std::llround(gpu), kEpoch + at + forward + 3000});
  }
  return probes;
}

TEST(Clock, TicksToNanosecondsExactly) {
  EXPECT_EQ(ticks_to_ns(123'456'789'012'345'678, 1e8), 1'234'567'890'123'456'780);
  EXPECT_EQ(ticks_to_ns(kCounter, 1e9), kCounter);
  EXPECT_EQ(ticks_to_ns(3, 2e8), 15);
  EXPECT_EQ(ticks_to_ns(27'000'000, 27e6), 1'000'000'000);
  EXPECT_EQ(ticks_to_ns(1000, 0.5e9), 2000);
}

// Spec/power 3: 200 probes over 10 s, 42 ppm, recovered 42.01 ppm with an offset error of -98 ns.
TEST(Clock, SyntheticCheckOfTheSpec) {
  const auto model = fit_clock(probes_with(42, 200, 10'000'000'000, 1), 1e9);
  ASSERT_TRUE(model) << model.error().describe();
  EXPECT_NEAR(model->drift_ppm, 42, 0.05);
  EXPECT_EQ(model->rtt_floor_ns / 100, 60);  // 6000 to 6500, nearly reached
  for (const int64_t at : {0L, 1'000'000'000L, 9'999'000'000L}) {
    const int64_t gpu = kCounter + std::llround(static_cast<double>(at) * (1 + 42e-6));
    EXPECT_NEAR(static_cast<double>(model->to_cpu_ns(gpu) - kEpoch - at), 0, 200) << at;
  }
  EXPECT_LT(model->residual_p95_ns, 500);
  EXPECT_EQ(model->probes, 200u);
  EXPECT_GT(model->probes_kept, 150u);
}

TEST(Clock, ManySeedsAndDriftsWithinOnePpm) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const double drift = static_cast<double>(seed) * 5 - 100;
    const auto model = fit_clock(probes_with(drift, 60, 3'000'000'000, seed), 1e9);
    ASSERT_TRUE(model);
    EXPECT_NEAR(model->drift_ppm, drift, 0.5) << seed;
  }
}

TEST(Clock, SlowCounterKeepsItsTicks) {
  std::vector<ClockProbe> probes = probes_with(-7, 200, 10'000'000'000, 3);
  for (ClockProbe& probe : probes) probe.gpu_ticks /= 10;  // 100 MHz
  const auto model = fit_clock(probes, 1e8);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->drift_ppm, -7, 0.05);
}

TEST(Clock, ManyProbesAreThinnedAndStillExact) {
  const auto model = fit_clock(probes_with(13, 20'000, 20'000'000'000, 5), 1e9);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->drift_ppm, 13, 0.02);
}

TEST(Clock, ShiftOfBothClocksChangesNothing) {
  std::vector<ClockProbe> probes = probes_with(42, 100, 1'000'000'000, 8);
  const auto before = fit_clock(probes, 1e9);
  for (ClockProbe& probe : probes) {
    probe.c0_ns -= kEpoch;
    probe.c1_ns -= kEpoch;
    probe.gpu_ticks -= kCounter;
  }
  const auto after = fit_clock(probes, 1e9);
  ASSERT_TRUE(before && after);
  EXPECT_DOUBLE_EQ(before->drift_ppm, after->drift_ppm);
  EXPECT_DOUBLE_EQ(before->residual_p95_ns, after->residual_p95_ns);
  EXPECT_EQ(before->to_cpu_ns(kCounter + 500'000'000) - kEpoch, after->to_cpu_ns(500'000'000));
}

// A crystal that warms up: 20 ppm more after half of the time. Groups of reads every 100 ms.
TEST(Clock, BentClockIsFollowedInPieces) {
  std::mt19937_64 random(4);
  std::vector<ClockProbe> probes;
  const auto gpu_at = [](double at) { return at * (1 + 10e-6) + 20e-6 * std::max(0.0, at - 5e9); };
  for (int64_t at = 0; at <= 10'000'000'000; at += 100'000'000) {
    for (int i = 0; i < 5; ++i) {
      const int64_t c0 = at + i * 20'000;
      const int64_t forward = 3000 + static_cast<int64_t>(uniform(random) * 100);
      probes.push_back(
          {c0, std::llround(gpu_at(static_cast<double>(c0 + forward))), c0 + forward + 3000});
    }
  }
  const auto model = fit_clock(probes, 1e9);
  ASSERT_TRUE(model);
  EXPECT_GT(model->segments.size(), 10u);
  for (int64_t at = 50'000'000; at < 10'000'000'000; at += 333'000'000) {
    const int64_t gpu = std::llround(gpu_at(static_cast<double>(at)));
    EXPECT_NEAR(static_cast<double>(model->to_cpu_ns(gpu) - at), 0, 150) << at;
  }
}

TEST(Clock, StraightClockStaysOneLine) {
  std::vector<ClockProbe> probes;
  std::mt19937_64 random(4);
  for (int64_t at = 0; at <= 10'000'000'000; at += 100'000'000) {
    for (int i = 0; i < 5; ++i) {
      const int64_t c0 = at + i * 20'000;
      const int64_t forward = 3000 + static_cast<int64_t>(uniform(random) * 400);
      probes.push_back({c0, c0 + forward, c0 + forward + 3000});
    }
  }
  const auto model = fit_clock(probes, 1e9);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->segments.size(), 1u);
}

TEST(Clock, TooFewProbesAreRefused) {
  const auto model = fit_clock(probes_with(0, 9, 1'000'000'000, 1), 1e9);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("only 9 clock probes"));
}

TEST(Clock, ClocksThatJumpBackAreNamed) {
  std::vector<ClockProbe> probes = probes_with(0, 20, 1'000'000'000, 1);
  std::vector<ClockProbe> broken = probes;
  broken[12].c0_ns = broken[11].c0_ns - 5;
  EXPECT_THAT(fit_clock(broken, 1e9).error().message,
              HasSubstr("clock probe 13: the CPU's clock jumps back by 5 ns"));
  broken = probes;
  broken[12].gpu_ticks = broken[11].gpu_ticks - 7;
  EXPECT_THAT(fit_clock(broken, 1e9).error().message,
              HasSubstr("clock probe 13: the GPU's counter jumps back by 7 ticks"));
  broken = probes;
  broken[3].c1_ns = broken[3].c0_ns - 1;
  EXPECT_THAT(fit_clock(broken, 1e9).error().message, HasSubstr("clock probe 4: it ends before"));
}

TEST(Clock, WrongFrequencyIsNoticed) {
  EXPECT_THAT(fit_clock(probes_with(0, 20, 1'000'000'000, 1), 1.05e9).error().message,
              HasSubstr("tick_hz is wrong"));
  EXPECT_FALSE(fit_clock(probes_with(0, 20, 1'000'000'000, 1), 0));
  EXPECT_FALSE(fit_clock(probes_with(0, 20, 1'000'000'000, 1), std::nan("")));
}

}  // namespace
}  // namespace assay
