#include "power/log_clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace assay {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr CoveredSpan kSpan{0, 10'000 * kMs};
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A GPU that works from 0 to 10 s between idle stretches of 5 s.
LogClocks clocks_of(const std::function<double(double)>& mhz, double state = kNone) {
  PowerSeries series;
  for (int i = -50; i <= 150; ++i) {
    const double clock = mhz(i * 0.1);
    if (std::isfinite(clock)) series.clock_mhz.push_back({i * 100 * kMs, clock});
    if (std::isfinite(state)) series.state.push_back({i * 100 * kMs, state});
  }
  LogIdle idle;
  idle.before = IdleStretch{-5, 0, 80};
  idle.after = IdleStretch{10, 15, 80};
  const std::vector<Work> work = {{0, 10'000 * kMs, StringId(1), StringId(0), ActivityId(0)}};
  return find_log_clocks(series, 0, work, kSpan, idle);
}

bool works(double t_s) { return t_s >= 0 && t_s <= 10; }

TEST(LogClocks, AClockThatFallsUnderLoadIsFound) {
  const LogClocks found = clocks_of([](double t) { return !works(t) ? 300 : t < 5 ? 1980 : 1400; });
  EXPECT_TRUE(found.falls);
  EXPECT_DOUBLE_EQ(found.high_mhz, 1980);
  EXPECT_DOUBLE_EQ(found.low_mhz, 1400);
  EXPECT_NEAR(found.below_share, 0.5, 0.02);
}

TEST(LogClocks, AClockThatRisesOrStaysHasNotFallen) {
  EXPECT_FALSE(clocks_of([](double t) { return !works(t) ? 300 : t < 5 ? 1400 : 1980; }).falls);
  EXPECT_FALSE(clocks_of([](double t) { return works(t) ? 1980 : 300; }).falls);
  EXPECT_FALSE(clocks_of([](double t) { return works(t) && t > 5 ? 1900 : 1980; }).falls);
}

TEST(LogClocks, IdleWithClocksUpIsNotDeepIdle) {
  EXPECT_TRUE(clocks_of([](double) { return 1410; }, 0).idle_clocks_up);
  // Data-centre GPUs stay in P0 with their clocks down.
  EXPECT_FALSE(clocks_of([](double t) { return works(t) ? 1410 : 210; }, 0).idle_clocks_up);
  EXPECT_DOUBLE_EQ(clocks_of([](double t) { return works(t) ? 1410 : 210; }, 0).idle_mhz, 210);
}

TEST(LogClocks, TheStateDecidesWithoutClocks) {
  EXPECT_TRUE(clocks_of([](double) { return kNone; }, 0).idle_clocks_up);
  EXPECT_FALSE(clocks_of([](double) { return kNone; }, 8).idle_clocks_up);
  EXPECT_FALSE(clocks_of([](double) { return kNone; }).idle_clocks_up);
}

}  // namespace
}  // namespace assay
