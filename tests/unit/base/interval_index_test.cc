#include "base/interval_index.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

TEST(IntervalIndex, MeasuresWhatAWindowCovers) {
  const IntervalIndex index({{10, 20}, {30, 50}, {60, 61}});
  EXPECT_EQ(index.length_in({0, 100}), 31);
  EXPECT_EQ(index.length_in({15, 40}), 15);
  EXPECT_EQ(index.length_in({12, 14}), 2);
  EXPECT_EQ(index.length_in({20, 30}), 0);
  EXPECT_EQ(index.length_in({10, 20}), 10);
  EXPECT_EQ(index.length_in({61, 90}), 0);
  EXPECT_EQ(index.length_in({40, 40}), 0);
  EXPECT_EQ(index.length_in({40, 35}), 0);
  EXPECT_EQ(index.length_in(std::vector<Interval>{{0, 15}, {45, 100}}), 5 + 6);
}

TEST(IntervalIndex, CoversItsStartsAndNotItsEnds) {
  const IntervalIndex index({{10, 20}, {30, 50}});
  EXPECT_FALSE(index.covers(9));
  EXPECT_TRUE(index.covers(10));
  EXPECT_TRUE(index.covers(19));
  EXPECT_FALSE(index.covers(20));
  EXPECT_TRUE(index.covers(30));
  EXPECT_FALSE(index.covers(50));
}

TEST(IntervalIndex, EmptyCoversNothing) {
  const IntervalIndex never_filled;
  EXPECT_EQ(never_filled.length_in({0, 100}), 0);
  EXPECT_FALSE(never_filled.covers(0));
  const IntervalIndex filled_with_nothing{std::vector<Interval>()};
  EXPECT_EQ(filled_with_nothing.length_in({0, 100}), 0);
}

}  // namespace
}  // namespace assay
