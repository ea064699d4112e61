#include "base/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace assay {
namespace {

TEST(Stats, QuantileInterpolatesBetweenOrderStatistics) {
  const std::vector<int64_t> four = {10, 20, 40, 80};
  EXPECT_DOUBLE_EQ(quantile_sorted(four, 0.0), 10);
  EXPECT_DOUBLE_EQ(quantile_sorted(four, 0.25), 17.5);  // place 0.75
  EXPECT_DOUBLE_EQ(quantile_sorted(four, 0.5), 30);     // place 1.5
  EXPECT_DOUBLE_EQ(quantile_sorted(four, 0.95), 74);    // place 2.85
  EXPECT_DOUBLE_EQ(quantile_sorted(four, 1.0), 80);
  EXPECT_DOUBLE_EQ(quantile_sorted(std::vector<double>{7.5}, 0.99), 7.5);
  EXPECT_TRUE(std::isnan(quantile_sorted(std::vector<double>{}, 0.5)));
  EXPECT_TRUE(std::isnan(quantile_sorted(std::vector<int64_t>{}, 0.5)));
}

TEST(Stats, QuantileOfWideIntegersDoesNotOverflow) {
  EXPECT_DOUBLE_EQ(quantile_sorted(std::vector<int64_t>{INT64_MIN, INT64_MAX}, 0.75),
                   4611686018427387904.0);
}

TEST(Stats, TheMeanOfAHeavyTailIsNotTypical) {
  // Two of 130 hold 92 % of the sum.
  std::vector<int64_t> durations(128, 1'000'000);
  durations.insert(durations.end(), {736'000'000, 736'000'000});
  const DurationSpread tail = duration_spread(durations);
  EXPECT_EQ(tail.count, 130u);
  EXPECT_EQ(tail.mean_ns, 12'307'692);
  EXPECT_EQ(tail.median_ns, 1'000'000);
  EXPECT_EQ(tail.longest_ns, 736'000'000);
  EXPECT_FALSE(tail.mean_is_typical());
  EXPECT_TRUE(duration_spread({8, 10, 12, 20}).mean_is_typical());
  EXPECT_EQ(duration_spread({}).count, 0u);
}

TEST(Stats, MedianAndItsAbsoluteDeviation) {
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  // median 2; deviations 1 1 0 0 2 4 7, sorted 0 0 1 1 2 4 7
  EXPECT_DOUBLE_EQ(median_abs_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median_abs_deviation({})));
}

TEST(Stats, StudentQuantilesMatchPrintedTables) {
  EXPECT_NEAR(student_t95(1), 12.7062047, 1e-6);
  EXPECT_NEAR(student_t95(2), 4.3026527, 1e-6);
  EXPECT_NEAR(student_t95(9), 2.2621572, 1e-6);
  EXPECT_NEAR(student_t95(30), 2.0422725, 1e-6);
  EXPECT_NEAR(student_t95(31), 2.0395134, 1e-6);
  EXPECT_NEAR(student_t95(40), 2.0210754, 1e-6);
  EXPECT_NEAR(student_t95(120), 1.9799304, 1e-6);
  EXPECT_NEAR(student_t95(1000000), 1.9599664, 1e-6);
}

// Worked out with forty digits (tan for one degree of freedom, the incomplete beta function for others, erfc for the
// normal distribution): nine digits more than the tables, so that a series cut too early is seen.
TEST(Stats, QuantilesHaveTwelveDigits) {
  EXPECT_NEAR(student_t95(1) / 12.706204736174704646, 1, 1e-12);
  EXPECT_NEAR(student_t95(2) / 4.3026527297494638523, 1, 1e-12);
  EXPECT_NEAR(student_t95(7) / 2.3646242515927853417, 1, 1e-12);
  EXPECT_NEAR(student_t95(40) / 2.0210753903062734213, 1, 1e-12);
  EXPECT_NEAR(student_t95_one_sided(7) / 1.8945786050900073895, 1, 1e-12);
  EXPECT_NEAR(normal_above(0.3) / 0.52440051270804078404, 1, 1e-12);
  EXPECT_NEAR(normal_above(0.05) / 1.6448536269514727149, 1, 1e-12);
  EXPECT_NEAR(normal_above(0.025) / 1.9599639845400542355, 1, 1e-12);
  EXPECT_NEAR(normal_above(0.0005) / 3.2905267314918947932, 1, 1e-12);
  EXPECT_NEAR(normal_above(1e-5) / 4.2648907939228246285, 1, 1e-12);
}

// The same bits on every machine, whichever C library it has.
TEST(Stats, QuantilesHaveTheSameBitsEverywhere) {
  EXPECT_EQ(student_t95(3), 0x1.975a66893c1a2p+1);
  EXPECT_EQ(student_t95(8), 0x1.272b24bc9242cp+1);
  EXPECT_EQ(student_t95(100), 0x1.fbe58eb3eee6ep+0);
  EXPECT_EQ(normal_above(0.001), 0x1.8b8cbb720449bp+1);
}

TEST(Stats, MeanIntervalIsStudents) {
  // mean 4, s^2 = (4 + 0 + 4) / 2 = 4, half width 4.302652730 * sqrt(4 / 3)
  const MeanInterval three = mean_interval95({2, 4, 6});
  EXPECT_DOUBLE_EQ(three.mean, 4);
  EXPECT_NEAR(three.low, 4 - 4.968275, 1e-6);
  EXPECT_NEAR(three.high, 4 + 4.968275, 1e-6);
  EXPECT_EQ(three.n, 3u);
}

TEST(Stats, MeanIntervalNeedsTwoValues) {
  const MeanInterval one = mean_interval95({5});
  EXPECT_DOUBLE_EQ(one.mean, 5);
  EXPECT_TRUE(std::isnan(one.low) && std::isnan(one.high));
  EXPECT_EQ(one.n, 1u);
  const MeanInterval none = mean_interval95({});
  EXPECT_TRUE(std::isnan(none.mean) && std::isnan(none.low) && std::isnan(none.high));
  EXPECT_EQ(none.n, 0u);
}

TEST(Stats, TheMedianOfTimesIsAWholeNanosecond) {
  EXPECT_EQ(median_ns({7}), 7);
  EXPECT_EQ(median_ns({9, 1, 4}), 4);
  EXPECT_EQ(median_ns({10, 1, 4, 5}), 5);  // of 4.5
}

// Tables of Student's t at 0.95.
TEST(Student, OneSided) {
  for (const size_t df : {1, 7, 40, 41, 500})
    EXPECT_NEAR(student_t95_one_sided(df), student_t_above(df, 0.05), 1e-12);
  EXPECT_NEAR(student_t_above(1, 0.05), 6.3137515, 1e-6);
  EXPECT_NEAR(student_t_above(2, 0.05), 2.9199856, 1e-6);
  EXPECT_NEAR(student_t_above(3, 0.05), 2.3533634, 1e-6);
  EXPECT_NEAR(student_t_above(7, 0.05), 1.8945786, 1e-6);
  EXPECT_NEAR(student_t_above(23, 0.05), 1.7138715, 1e-6);
}

// Tables at 0.999 and 0.9995, one-sided.
TEST(Student, FarOut) {
  EXPECT_NEAR(student_t_above(1, 0.0005), 636.619249, 1e-4);
  EXPECT_NEAR(student_t_above(3, 0.001), 10.214532, 1e-5);
  EXPECT_NEAR(student_t_above(4, 0.0005), 8.610302, 1e-5);
  EXPECT_NEAR(student_t_above(30, 0.0005), 3.645959, 1e-5);
  EXPECT_NEAR(student_t_above(120, 0.0005), 3.373454, 1e-5);
  EXPECT_NEAR(normal_above(0.0005), 3.290527, 1e-6);
}

}  // namespace
}  // namespace assay
