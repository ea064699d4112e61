#include "base/intervals.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace assay {
namespace {

using List = std::vector<Interval>;

TEST(Intervals, MergeSortsJoinsTouchingAndDropsEmpty) {
  EXPECT_EQ(merge_intervals({{40, 50}, {0, 10}, {10, 20}, {5, 8}, {30, 30}, {15, 25}, {60, 55}}),
            (List{{0, 25}, {40, 50}}));
  EXPECT_EQ(merge_intervals({}), List{});
  EXPECT_EQ(merge_intervals({{7, 7}}), List{});
}

TEST(Intervals, UnionCountsOverlapOnce) {
  EXPECT_EQ(union_ns({{0, 10}, {5, 15}, {20, 21}}), 16);
  EXPECT_EQ(union_ns({}), 0);
  EXPECT_EQ(length_ns({{-5, 5}, {10, 11}}), 11);
}

TEST(Intervals, IntersectKeepsPointsInBoth) {
  EXPECT_EQ(intersect({{0, 10}, {20, 30}}, {{5, 22}, {25, 40}}),
            (List{{5, 10}, {20, 22}, {25, 30}}));
  EXPECT_EQ(intersect({{0, 10}}, {{10, 20}}), List{});
}

TEST(Intervals, SubtractCutsHolesThatSpanSeveralIntervals) {
  EXPECT_EQ(subtract({{0, 10}, {20, 30}, {40, 50}}, {{3, 5}, {8, 22}, {28, 60}}),
            (List{{0, 3}, {5, 8}, {22, 28}}));
  EXPECT_EQ(subtract({{0, 10}}, {}), (List{{0, 10}}));
  EXPECT_EQ(subtract({{0, 10}}, {{0, 10}}), List{});
}

TEST(Intervals, ClipCutsAtBothEdges) {
  const List merged = {{0, 10}, {20, 30}, {40, 50}};
  EXPECT_EQ(clip(merged, {5, 45}), (List{{5, 10}, {20, 30}, {40, 45}}));
  EXPECT_EQ(clip(merged, {10, 20}), List{});
  EXPECT_EQ(clip(merged, {22, 24}), (List{{22, 24}}));
  EXPECT_EQ(clip(merged, {24, 24}), List{});
}

// Every operation against a set of points on a short line.
TEST(Intervals, TheOneThatHoldsATime) {
  const std::vector<Interval> intervals = {{10, 20}, {20, 30}, {40, 50}};
  EXPECT_EQ(interval_at(intervals, 9), 3u);
  EXPECT_EQ(interval_at(intervals, 10), 0u);
  EXPECT_EQ(interval_at(intervals, 20), 1u);
  EXPECT_EQ(interval_at(intervals, 30), 3u);
  EXPECT_EQ(interval_at(intervals, 49), 2u);
  EXPECT_EQ(interval_at(intervals, 50), 3u);
  EXPECT_EQ(interval_at({}, 0), 0u);
}

TEST(Intervals, AgreeWithSetsOfPoints) {
  constexpr int kLine = 40;
  std::mt19937 random(1);
  const auto draw = [&] {
    List list(random() % 6);
    for (Interval& i : list) {
      i.start_ns = random() % kLine;
      i.end_ns = i.start_ns + random() % 8;
    }
    return list;
  };
  const auto covers = [](const List& list, int64_t point) {
    for (const Interval& i : list) {
      if (i.start_ns <= point && point < i.end_ns) return true;
    }
    return false;
  };
  for (int round = 0; round < 2000; ++round) {
    const List raw_a = draw();
    const List raw_b = draw();
    const List a = merge_intervals(raw_a);
    const List b = merge_intervals(raw_b);
    const Interval window{static_cast<int64_t>(random() % kLine),
                          static_cast<int64_t>(random() % kLine)};
    const List common = intersect(a, b);
    const List rest = subtract(a, b);
    const List inside = clip(a, window);
    int64_t length = 0;
    for (int64_t p = 0; p < kLine + 8; ++p) {
      ASSERT_EQ(covers(a, p), covers(raw_a, p));
      ASSERT_EQ(covers(common, p), covers(a, p) && covers(b, p));
      ASSERT_EQ(covers(rest, p), covers(a, p) && !covers(b, p));
      ASSERT_EQ(covers(inside, p), covers(a, p) && window.start_ns <= p && p < window.end_ns);
      length += covers(a, p);
    }
    ASSERT_EQ(union_ns(raw_a), length);
    for (const List* list : {&a, &b, &common, &rest, &inside}) {
      ASSERT_EQ(merge_intervals(*list), *list) << "not in canonical form";
    }
  }
}

}  // namespace
}  // namespace assay
