#include "throughput/conformal.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

std::vector<Miss> misses_of(const char* pair, size_t count, double sds) {
  return std::vector<Miss>(count, Miss{sds, pair});
}

std::vector<Miss> operator+(std::vector<Miss> a, const std::vector<Miss>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// With n misses the ceil(0.9 (n + 1))-th smallest: of nine the largest, of eight there is none, and
// the largest is assumed.
TEST(Conformal, IsTheQuantileOfFinitelyManyMisses) {
  std::vector<Miss> misses;
  for (int i = 9; i >= 1; --i) misses.push_back({static_cast<double>(i), "H100|vLLM"});
  const ConformalScale nine = conformal_scale(misses);
  EXPECT_TRUE(nine.measured);
  EXPECT_EQ(nine.residuals, 9u);
  EXPECT_EQ(nine.scale, 9);
  misses.pop_back();
  const ConformalScale eight = conformal_scale(misses);
  EXPECT_FALSE(eight.measured);
  EXPECT_EQ(eight.residuals, 8u);
  EXPECT_EQ(eight.scale, 9);
  EXPECT_EQ(conformal_scale(misses_of("a|x", 8, 1)).scale, kNormalScale);
}

// Rows that repeat to the last digit do not make the next run do so.
TEST(Conformal, IsNeverNothing) {
  const ConformalScale scale =
      conformal_scale(misses_of("a|x", 100, 0) + misses_of("b|x", 100, 1e-9));
  EXPECT_EQ(scale.scale, kLeastScale);
  EXPECT_EQ(scale.at("a|x"), kLeastScale);
}

// Steady rows do not pay for restless ones, nor the other way round. Of the steady pair 100 + 10 of
// 121 are 1, more than 108.9.
TEST(Conformal, EachPairHasItsOwn) {
  const ConformalScale scale =
      conformal_scale(misses_of("a|x", 100, 1) + misses_of("b|x", 100, 10));
  EXPECT_EQ(scale.scale, 10);
  EXPECT_EQ(scale.at("a|x"), 1);
  EXPECT_EQ(scale.at("b|x"), 10);
  EXPECT_EQ(scale.at("c|x"), 10);
}

// One miss of its own: 20 * 100 / 101 = 19.802 of all are 1, and 0.9 * 22 = 19.8 are wanted. Two
// are enough to tell.
TEST(Conformal, FewMissesLeaveAPairNearTheScaleOfAll) {
  const ConformalScale one = conformal_scale(misses_of("a|x", 100, 1) + misses_of("b|x", 1, 10));
  EXPECT_EQ(one.scale, 1);
  EXPECT_EQ(one.at("b|x"), 1);
  const ConformalScale two = conformal_scale(misses_of("a|x", 100, 1) + misses_of("b|x", 2, 10));
  EXPECT_EQ(two.scale, 1);
  EXPECT_EQ(two.at("b|x"), 10);
}

TEST(Conformal, OnePairAloneIsAll) {
  const ConformalScale scale = conformal_scale(misses_of("a|x", 50, 2));
  EXPECT_TRUE(scale.of_pair.empty());
  EXPECT_EQ(scale.at("a|x"), 2);
}

}  // namespace
}  // namespace assay
