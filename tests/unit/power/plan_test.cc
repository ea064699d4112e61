#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "power/profile.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Spec/power 6, vector 1: which row of Table I, told by its runs and spacing and margin.
TEST(Plan, RowsOfTableOneAreLowerInclusive) {
  struct Case {
    int64_t t_ns;
    uint32_t runs;
    int64_t spacing_ns;
    double margin;
  };
  for (const Case c : {Case{25'000, 400, 5'000, 0.05}, Case{49'900, 400, 5'000, 0.05},
                       Case{50'000, 200, 10'000, 0.05}, Case{199'999, 200, 10'000, 0.05},
                       Case{200'000, 200, 10'000, 0.02}, Case{1'000'000, 200, 10'000, 0.02},
                       Case{1'001'000, 200, 10'000, 0.02}}) {
    const auto plan = plan_profile(c.t_ns, false);
    ASSERT_TRUE(plan) << c.t_ns;
    EXPECT_EQ(plan->runs, c.runs) << c.t_ns;
    EXPECT_EQ(plan->loi_spacing_ns, c.spacing_ns) << c.t_ns;
    EXPECT_DOUBLE_EQ(plan->margin, c.margin) << c.t_ns;
    EXPECT_FALSE(plan->extrapolated);
  }
}

TEST(Plan, UnderTwentyFiveMicrosecondsOnlyWhenForced) {
  EXPECT_FALSE(plan_profile(24'999, false));
  EXPECT_FALSE(plan_profile(0, true));
  const auto forced = plan_profile(10'000, true);  // 400 x 25 / 10
  ASSERT_TRUE(forced);
  EXPECT_EQ(forced->runs, 1000u);
  EXPECT_TRUE(forced->extrapolated);
}

// In every row under a millisecond the expected LOIs, runs x T / P, are twice the target.
TEST(Plan, ExpectedLoisAreTwiceTheTarget) {
  for (const int64_t t : {30'000, 40'000, 100'000, 500'000}) {
    const auto plan = plan_profile(t, false);
    EXPECT_EQ(static_cast<int64_t>(plan->runs) * t / 1'000'000, 2 * t / plan->loi_spacing_ns) << t;
  }
}

TEST(Plan, SspExecutionsOfTheSpec) {
  struct Case {
    int64_t t_us;
    uint32_t n;
  };
  for (const Case c : {Case{25, 40}, Case{30, 34}, Case{50, 20}, Case{90, 12}, Case{100, 10},
                       Case{200, 5}, Case{249, 5}, Case{250, 4}, Case{8000, 4}}) {
    EXPECT_EQ(ssp_executions(1'000'000, c.t_us * 1000, false), c.n) << c.t_us;
  }
  EXPECT_EQ(ssp_executions(1'000'000, 100'000, true), 11u);
  EXPECT_EQ(ssp_executions(1'000'000, 2'000'000, true), 4u);
  EXPECT_EQ(ssp_executions(0, 100'000, false), 4u);
}

std::vector<int64_t> values_at(const std::vector<int64_t>& all, const std::vector<size_t>& at) {
  std::vector<int64_t> values;
  for (const size_t i : at) values.push_back(all[i]);
  std::sort(values.begin(), values.end());
  return values;
}

// Spec/power 6, vector 3, in tenths of a unit so that times are whole.
const std::vector<int64_t> kDurations = {100000, 101000, 101500, 102000, 103000, 104800,
                                         105100, 106000, 107000, 110000, 120000, 99200};

TEST(GoldenRuns, FivePercentOfTheSpec) {
  EXPECT_THAT(values_at(kDurations, golden_runs(kDurations, 0.05)),
              ElementsAre(101000, 101500, 102000, 103000, 104800, 105100, 106000));
}

TEST(GoldenRuns, TieGoesToTheSmallerSpreadThenTheSmallerStart) {
  EXPECT_THAT(values_at(kDurations, golden_runs(kDurations, 0.02)),
              ElementsAre(100000, 101000, 101500, 102000));
  // Three each; 200..202 is tighter than 100..105.
  EXPECT_THAT(golden_runs({100, 103, 105, 200, 201, 202}, 0.05), ElementsAre(3, 4, 5));
}

TEST(GoldenRuns, EmptyAndSingle) {
  EXPECT_THAT(golden_runs({}, 0.05), IsEmpty());
  EXPECT_THAT(golden_runs({7}, 0.05), ElementsAre(0));
}

TEST(GoldenRuns, OrderOfRunsDoesNotMatter) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> durations(1 + random() % 40);
    for (int64_t& d : durations) d = 1000 + static_cast<int64_t>(random() % 200);
    const auto before = values_at(durations, golden_runs(durations, 0.05));
    for (size_t i = durations.size(); i > 1; --i) {
      std::swap(durations[i - 1], durations[random() % i]);
    }
    EXPECT_EQ(values_at(durations, golden_runs(durations, 0.05)), before);
  }
}

// Against trying every start by hand; and more runs never make the best bin smaller.
TEST(GoldenRuns, BinIsTheFullestAndOutliersCannotShrinkIt) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> durations(1 + random() % 30);
    for (int64_t& d : durations) d = 1000 + static_cast<int64_t>(random() % 300);
    size_t fullest = 0;
    for (const int64_t low : durations) {
      size_t inside = 0;
      for (const int64_t d : durations) inside += d >= low && d * 100 <= low * 105;
      fullest = std::max(fullest, inside);
    }
    EXPECT_EQ(golden_runs(durations, 0.05).size(), fullest);
    durations.push_back(5000);
    durations.push_back(1);
    EXPECT_GE(golden_runs(durations, 0.05).size(), fullest);
  }
}

}  // namespace
}  // namespace assay
