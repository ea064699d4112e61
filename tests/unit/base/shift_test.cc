#include "base/shift.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

// The steps of a loader's mending, one of them with a checkpoint. Of 64 differences the exact 95 %
// interval of two samples of eight leaves out 13 at each end (tables of Mann and Whitney).
TEST(ShiftBetween, OneStepFarFromTheRestDoesNotHideTheOthers) {
  const std::vector<double> before = {150, 151, 150.6, 152, 149, 150.2, 150.9, 151.5};
  const std::vector<double> after = {122, 123, 122.5, 600, 121, 122.2, 122.9, 123.4};
  const Shift shift = shift_between(before, after);
  EXPECT_TRUE(shift.real());
  EXPECT_NEAR(shift.change, -28.0, 1e-9);
  EXPECT_NEAR(shift.low, -29, 1e-9);
  EXPECT_NEAR(shift.high, -26.8, 1e-9);
  EXPECT_NEAR(shift.a, 150.75, 1e-9);
}

TEST(ShiftBetween, ExchangedSidesGiveTheOpposite) {
  const std::vector<double> a = {10, 12, 11, 13, 14, 9};
  const std::vector<double> b = {20, 21, 25, 22, 23};
  const Shift there = shift_between(a, b);
  const Shift back = shift_between(b, a);
  EXPECT_EQ(there.change, -back.change);
  EXPECT_EQ(there.low, -back.high);
  EXPECT_EQ(there.high, -back.low);
}

// 1 of 20 orders of three and three is 0.05 in one tail: no interval has 95 %. Of four and four 1
// of 70 is 0.014.
TEST(ShiftBetween, TooFewBlocksHaveNoShift) {
  EXPECT_FALSE(shift_between({1, 2, 3}, {4, 5, 6}).known);
  EXPECT_TRUE(shift_between({1, 2, 3, 4}, {4, 5, 6, 7}).known);
  EXPECT_FALSE(shift_between({}, {1}).known);
}

// Of eight pairs the 36 Walsh averages; Wilcoxon's table leaves out three at each end. The pairs
// lie far from each other, and none of that is in the interval.
TEST(ShiftOfPairs, AreTakenPairByPair) {
  const std::vector<double> a = {100, 150, 90, 300, 120, 80, 200, 110};
  std::vector<double> b = a;
  const double grown[] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (size_t i = 0; i < b.size(); ++i) b[i] += grown[i];
  const Shift shift = shift_of_pairs(a, b);
  EXPECT_TRUE(shift.real());
  EXPECT_DOUBLE_EQ(shift.change, 4.5);
  EXPECT_DOUBLE_EQ(shift.low, 2);  // 1, 1.5, 2 and the next 2
  EXPECT_DOUBLE_EQ(shift.high, 7);
  EXPECT_EQ(shift_of_pairs(b, a).low, -shift.high);
  EXPECT_FALSE(shift_of_pairs({1, 2, 3, 4, 5}, {2, 3, 4, 5, 6}).known);
  EXPECT_TRUE(shift_of_pairs({1, 2, 3, 4, 5, 6}, {2, 3, 4, 5, 6, 7}).known);
}

// Where ten are looked at, each is told at 0.0025 a tail: 8 against 8 cut off at U = 6, not 13.
TEST(ShiftBetween, ASmallerTailMakesAWiderInterval) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> b = {11, 12, 13, 14, 15, 16, 17, 18};
  EXPECT_EQ(shift_between(a, b).low, 7);
  EXPECT_LT(shift_between(a, b, 0.0025).low, 7);
  EXPECT_FALSE(shift_between({1, 2, 3, 4}, {5, 6, 7, 8}, 0.0025).known);
  const std::vector<double> many(40, 1.0);
  EXPECT_TRUE(shift_between(many, many, 0.0025).known);
}

// Twice the spread: of 64 differences 13 and 32 less 19 lie outside, 32 - 2 * 19 is below 0.
TEST(ShiftBetween, AMemoryMakesAWiderInterval) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> b = {11, 12, 13, 14, 15, 16, 17, 18};
  EXPECT_LT(shift_between(a, b, kShiftTail, 1.2, 1.2).low, shift_between(a, b).low);
  EXPECT_FALSE(shift_between(a, b, kShiftTail, 2, 2).known);
  EXPECT_EQ(shift_between(a, b, kShiftTail, 1.3, 1).low,
            -shift_between(b, a, kShiftTail, 1, 1.3).high);
}

// Rows that stay are widened by 6.79843 (memory_test.cc): ranks are cut off beyond the ends, and
// what is left is the difference of the means, give or take sqrt(2) * 6.79843 * 3.182446 * sqrt(1 /
// 3).
TEST(ShiftOfRows, ShortSeriesUseTheirMeans) {
  const Shift shift = shift_of_rows({1, 1, 3, 3}, {101, 101, 103, 103});
  EXPECT_TRUE(shift.real());
  EXPECT_DOUBLE_EQ(shift.change, 100);
  EXPECT_NEAR(shift.low, 100 - 17.6654, 1e-3);
  EXPECT_NEAR(shift.high, 100 + 17.6654, 1e-3);
  EXPECT_FALSE(shift_of_rows({1, 1, 3, 3}, {11, 11, 13, 13}).real());
  EXPECT_TRUE(shift_of_rows({1, 2, 3}, {4, 5, 6}).known);
  EXPECT_FALSE(shift_of_rows({1, 2}, {4, 5, 6}).known);
  EXPECT_FALSE(shift_of_rows({1, NAN, 2}, {4, 5, 6}).known);
}

// Opposite neighbours have no memory: as shift_between.
TEST(ShiftOfRows, UncorrelatedSeriesUseTheirRanks) {
  const std::vector<double> a = {1, 3, 1, 3, 1, 3};
  const std::vector<double> b = {2, 5, 2, 5, 2, 5};
  EXPECT_EQ(shift_of_rows(a, b).low, shift_between(a, b).low);
  EXPECT_EQ(shift_of_rows(a, b).high, shift_between(a, b).high);
}

TEST(EvenBlocks, AreOfTheCubeRootAndNoneIsShort) {
  const EvenBlocks seven(7);
  EXPECT_EQ(seven.count(), 7u);
  const EvenBlocks fourteen(14);  // of 2
  EXPECT_EQ(fourteen.count(), 7u);
  EXPECT_EQ(fourteen.of(13), 6u);
  const EvenBlocks fifteen(15);  // the last has three
  EXPECT_EQ(fifteen.of(14), 6u);
  EXPECT_EQ(EvenBlocks(0).count(), 0u);
  EXPECT_LE(EvenBlocks(1000000).count(), 64u);
  EXPECT_EQ(block_means({1, 2, 3, NAN}), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(block_means({1, 3, 5, 7, 9, 11, 13, 15}), (std::vector<double>{2, 6, 10, 14}));
}

TEST(EvenBlocks, FewBlocksAreSingleValuesUpTo24) {
  EXPECT_EQ(EvenBlocks::of_few(24).count(), 24u);
  const EvenBlocks of_two = EvenBlocks::of_few(26);
  EXPECT_EQ(of_two.count(), 13u);
  EXPECT_EQ(of_two.of(25), 12u);
  const EvenBlocks odd = EvenBlocks::of_few(27);  // the last has three
  EXPECT_EQ(odd.of(26), 12u);
  EXPECT_EQ(EvenBlocks::of_few(0).count(), 0u);
  EXPECT_EQ(EvenBlocks::of_few(1000000).count(), 23u);
}

}  // namespace
}  // namespace assay
