#include "flow/slow_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/trace_maker.h"

namespace assay {
namespace {

// Kernels of 100 ns, or up to `most_ns`, 200 of them, of which those at `places` take 1,000.
std::optional<SlowRuns> found_with(const std::vector<int64_t>& places, int64_t most_ns = 100) {
  testing::TraceMaker maker;
  int64_t now_ns = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const bool slow = std::find(places.begin(), places.end(), i) != places.end();
    const int64_t ns = slow ? 1000 : i % 4 == 0 ? most_ns : 100;
    maker.kernel(0, 7, "attention", now_ns, ns, static_cast<uint32_t>(i + 1));
    now_ns += ns;
  }
  const Trace trace = maker.build();
  return slow_runs(trace, {0, now_ns});
}

TEST(SlowRuns, ComeNowAndThen) {
  const auto found = found_with({11, 40, 52, 99, 130, 131, 178});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->runs, 200u);
  EXPECT_EQ(found->slow, 7u);
  EXPECT_DOUBLE_EQ(found->times, 10);
  EXPECT_EQ(found->excess_ns, 7 * 900);
}

TEST(SlowRuns, NoneWhereTheTimeFollowsTheData) {
  EXPECT_TRUE(found_with({11, 39, 51, 99, 130, 131, 178}, 140));
  EXPECT_FALSE(found_with({11, 39, 51, 99, 130, 131, 178}, 200));
}

TEST(SlowRuns, NoneWhereTheyComeInTheirPlace) {
  std::vector<int64_t> places;  // two in each iteration of 25
  for (int64_t i = 0; i < 200; i += 25) places.insert(places.end(), {i + 3, i + 17});
  EXPECT_FALSE(found_with(places));
}

TEST(SlowRuns, NoneOfAStartOfFewOrOfMany) {
  EXPECT_FALSE(found_with({0, 1, 3, 6, 10, 15}));  // all in the first half
  EXPECT_FALSE(found_with({11, 178}));
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 200; ++i) {
    if (i * 7919 % 10 < 4) many.push_back(i);
  }
  EXPECT_FALSE(found_with(many));
}

}  // namespace
}  // namespace assay
