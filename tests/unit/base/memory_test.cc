#include "base/memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/stats.h"

namespace assay {
namespace {

MeanInterval widened(const std::vector<double>& values) {
  MeanInterval interval = mean_interval95(values);
  const double half = memory_widening(values) * (interval.high - interval.mean);
  interval.low = interval.mean - half;
  interval.high = interval.mean + half;
  return interval;
}

// 1, 3, 1, 3: neighbours are opposite, r = -3/4, unbiased -3/4 + (1 - 9/4)/4 = -1.0625; its upper
// end is that + 2.3534 * sqrt(0.05 / 4) < 0. Halves have the same mean. Nothing is widened.
TEST(Memory, OppositeNeighboursWidenNothing) { EXPECT_DOUBLE_EQ(memory_widening({1, 3, 1, 3}), 1); }

// 1, 1, 3, 3: off by -1, -1, 1, 1, r = (1 - 1 + 1) / 4 = 0.25, unbiased 0.25 + 1.75/4 = 0.6875, and
// the upper end is beyond 0.95. V = 1 + 2 (0.75 * 0.95 + 0.5 * 0.9025 + 0.25 * 0.857375) =
// 3.7561875, over 1 - 2.7561875 / 3: 46.2187. Of its root 6.798 the halves are less: 1.5 * 2 over
// 3.1824 * sqrt(4 / 3 / 4) = 1.837.
TEST(Memory, ValuesThatStayAreWorthLess) {
  EXPECT_NEAR(memory_widening({1, 1, 3, 3}), 6.7984, 1e-3);
}

TEST(Memory, ConstantValuesHaveNone) {
  EXPECT_DOUBLE_EQ(memory_widening({}), 1);
  EXPECT_DOUBLE_EQ(memory_widening({5}), 1);
  EXPECT_DOUBLE_EQ(memory_widening({5, 5, 5, 5}), 1);
  EXPECT_DOUBLE_EQ(rank_memory_widening({5, 5, 5, 5}), 1);
}

// A straight drift of 24 values by 23: half an interval of the mean holds at least the 1.5 * 12 by
// which the halves differ.
TEST(Memory, ADriftIsHeldByTheDifferenceOfItsHalves) {
  std::vector<double> drift;
  for (int i = 0; i < 24; ++i) drift.push_back(i);
  const MeanInterval interval = widened(drift);
  EXPECT_GE(interval.high - interval.mean, 18 - 1e-9);
  EXPECT_NEAR(interval.high - interval.mean, interval.mean - interval.low, 1e-9);
}

// One value far from the rest is one rank.
TEST(Memory, OfRanksOnlyTheOrderCounts) {
  const std::vector<double> values = {1, 4, 2, 6, 3, 5, 8, 7};
  std::vector<double> far = values;
  far[6] = 1e9;
  EXPECT_DOUBLE_EQ(rank_memory_widening(values), rank_memory_widening(far));
  EXPECT_DOUBLE_EQ(rank_memory_widening(values), memory_widening(values));
}

// Intervals of the mean of 24 values hold it in 95 of 100 runs, with a memory of 0.9 in 92.
TEST(Memory, TheIntervalOfAMeanHoldsIt) {
  for (const double alike : {0.0, 0.3, 0.6, 0.9}) {
    SplitMix64 random(17);
    int held = 0;
    constexpr int kRuns = 1000;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<double> values;
      double last = random.normal();
      for (int i = 0; i < 24; ++i) {
        values.push_back(last);
        last = alike * last + std::sqrt(1 - alike * alike) * random.normal();
      }
      const MeanInterval interval = widened(values);
      held += interval.low <= 0 && interval.high >= 0;
    }
    EXPECT_GE(held, alike > 0.8 ? 910 : 940) << alike;
  }
}

}  // namespace
}  // namespace assay
