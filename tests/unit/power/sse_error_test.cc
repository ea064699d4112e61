#include "power/sse_error.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace assay {
namespace {

constexpr double kSseSpanNs = 100'000;

struct SseRuns {
  std::vector<LoiPoint> ssp;
  std::vector<LoiPoint> sse;
};

// Settled power of 500 W that swings by 40 W over the execution, the first settled execution `less`
// of it; what a run has in common scales both.
SseRuns make_sse_runs(uint64_t seed, uint32_t runs, double less, double in_common) {
  SplitMix64 random(seed);
  SseRuns made;
  for (uint32_t run = 0; run < runs; ++run) {
    const double gain = 1 + in_common * random.normal();
    for (int i = 0; i < 3; ++i) {
      const auto point = [&](double scale) {
        const double t = random.uniform(0, kSseSpanNs);
        const double watts = 500 + 40 * (2 * t / kSseSpanNs - 1);
        return LoiPoint{t, gain * scale * watts * (1 + 0.01 * random.normal()), run};
      };
      made.ssp.push_back(point(1));
      made.sse.push_back(point(1 - less));
    }
  }
  return made;
}

Interval95 sse_interval(const SseRuns& made) {
  return sse_error_interval(made.ssp, 1, made.sse, 1, kSseSpanNs, 400, 7);
}

TEST(SseError, IntervalsHoldTheTruth) {
  int inside = 0;
  double width = 0;
  constexpr int kJobs = 200;
  for (int i = 0; i < kJobs; ++i) {
    const Interval95 range =
        sse_interval(make_sse_runs(30'000 + static_cast<uint64_t>(i), 20, 0.04, 0.05));
    inside += range.low <= 0.04 && range.high >= 0.04 ? 1 : 0;
    width += (range.high - range.low) / kJobs;
  }
  EXPECT_GE(inside, 182);  // 95 % of 200, less 2.6 standard deviations
  EXPECT_LE(inside, 199);
  // 5 % that a run has in common is in both: taken apart they would be known to +-3 % only.
  EXPECT_LT(width, 0.012);
}

TEST(SseError, SharedPowerHasALowerEndOfZero) {
  int from_nothing = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Interval95 range = sse_interval(make_sse_runs(seed, 20, 0, 0.05));
    EXPECT_GT(range.high, 0);
    from_nothing += range.low == 0 ? 1 : 0;
  }
  EXPECT_GE(from_nothing, 34);
}

TEST(SseError, FewRunsHaveNoInterval) {
  EXPECT_TRUE(std::isnan(sse_interval(make_sse_runs(1, 5, 0.04, 0)).low));
  EXPECT_TRUE(std::isnan(sse_interval({}).high));
}

}  // namespace
}  // namespace assay
