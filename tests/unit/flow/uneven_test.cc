#include "flow/uneven.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using Durations = std::vector<int64_t>;

TEST(UnevenSteps, AFewThatTakeFarLonger) {
  Durations steps(20, 100);
  steps[3] = 410;
  steps[9] = 160;
  const auto found = uneven_steps(steps);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->from_one_on);
  EXPECT_EQ(found->count, 2u);
  EXPECT_EQ(found->first, 3u);
  EXPECT_DOUBLE_EQ(found->times, 4.1);
  EXPECT_EQ(found->excess_ns, 310 + 60);
}

TEST(UnevenSteps, AllFromOneOn) {
  Durations steps(20, 100);
  for (size_t i = 12; i < steps.size(); ++i) steps[i] = i % 2 == 0 ? 128 : 132;
  steps[2] = 104;
  const auto found = uneven_steps(steps);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->from_one_on);
  EXPECT_EQ(found->first, 12u);
  EXPECT_EQ(found->count, 8u);
  EXPECT_DOUBLE_EQ(found->times, 1.3);
  EXPECT_EQ(found->excess_ns, 240);
}

TEST(UnevenSteps, AllOfAStretch) {
  Durations steps(20, 100);
  for (size_t i = 6; i < 12; ++i) steps[i] = i % 2 == 0 ? 160 : 170;
  steps[2] = 103;
  const auto found = uneven_steps(steps);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->stretch);
  EXPECT_FALSE(found->from_one_on);
  EXPECT_EQ(found->first, 6u);
  EXPECT_EQ(found->count, 6u);
  EXPECT_DOUBLE_EQ(found->times, 1.65);
  EXPECT_EQ(found->excess_ns, 65 * 6);
  // Two stretches are how the program goes.
  for (size_t i = 14; i < 18; ++i) steps[i] = 165;
  EXPECT_FALSE(uneven_steps(steps));
}

TEST(UnevenSteps, MoreAndMoreFromOneOn) {
  Durations steps(8, 100);
  for (int64_t i = 1; i <= 9; ++i) steps.push_back(100 + 10 * i);
  const auto found = uneven_steps(steps);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->from_one_on);
  EXPECT_TRUE(found->drift);
  EXPECT_EQ(found->first, 8u);
  EXPECT_EQ(found->count, 9u);
  // The last third of what lies behind the split: 180, 190.
  EXPECT_NEAR(found->times, 1.85, 0.051);
  EXPECT_EQ(found->excess_ns, 10 * 45);
  std::fill(steps.begin() + 8, steps.end(), 150);  // one jump is none
  ASSERT_TRUE(uneven_steps(steps));
  EXPECT_FALSE(uneven_steps(steps)->drift);
}

TEST(UnevenSteps, NeitherNoiseNorAPatternNorTooFew) {
  Durations noise;
  for (int64_t i = 0; i < 40; ++i) noise.push_back(100 + (i * 37) % 19);
  EXPECT_FALSE(uneven_steps(noise));
  Durations pattern;  // every third takes twice as long: that is how this program goes
  for (int64_t i = 0; i < 30; ++i) pattern.push_back(i % 3 == 2 ? 200 : 100);
  EXPECT_FALSE(uneven_steps(pattern));
  EXPECT_FALSE(uneven_steps({100, 100, 900}));
  EXPECT_FALSE(uneven_steps({0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(uneven_steps({}));
  Durations little(100, 100);  // 60 of 10,060
  little[50] = 160;
  EXPECT_FALSE(uneven_steps(little));
}

}  // namespace
}  // namespace assay
