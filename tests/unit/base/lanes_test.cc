// Slices by hand, and the lane each belongs on.

#include "base/lanes.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay {
namespace {

std::vector<uint32_t> lanes_of(const std::vector<std::pair<int64_t, int64_t>>& start_and_dur) {
  Lanes lanes;
  std::vector<uint32_t> placed;
  for (const auto& [start, dur] : start_and_dur) placed.push_back(lanes.place(start, dur));
  return placed;
}

using Placed = std::vector<uint32_t>;

TEST(Lanes, NestedAndConsecutiveSlicesStayOnOneLane) {
  EXPECT_EQ(lanes_of({{0, 100}, {0, 50}, {10, 40}, {50, 50}, {100, 5}}), Placed({0, 0, 0, 0, 0}));
}

TEST(Lanes, SliceThatOutlivesItsParentGoesToTheNextLane) {
  EXPECT_EQ(lanes_of({{0, 100}, {90, 20}, {95, 5}, {105, 10}, {110, 1}}), Placed({0, 1, 0, 0, 0}));
}

TEST(Lanes, UsesTheFirstFreeLane) {
  // At 30 lane 0 is still busy until 100, lane 1 is free again.
  EXPECT_EQ(lanes_of({{0, 100}, {10, 95}, {20, 200}, {105, 10}, {106, 300}}),
            Placed({0, 1, 2, 0, 1}));
}

TEST(Lanes, EmptySlicesNestInOpenSlicesAndFollowEndingOnes) {
  EXPECT_EQ(lanes_of({{0, 10}, {5, 0}, {10, 0}, {10, 0}, {11, 3}}), Placed({0, 0, 0, 0, 0}));
}

TEST(Lanes, NoLaneIsDeeperThanTheLimit) {
  Lanes lanes;
  const auto deep = static_cast<int64_t>(Lanes::kMostNested);
  for (int64_t i = 0; i < deep; ++i) EXPECT_EQ(lanes.place(i, 10'000 - 2 * i), 0u);
  EXPECT_EQ(lanes.place(deep, 10), 1u);
  EXPECT_EQ(lanes.place(20'000, 10), 0u);
}

TEST(Lanes, ManyAtOneMomentDoNotStackWithoutEnd) {
  Lanes lanes;
  for (size_t i = 0; i < 3 * Lanes::kMostNested; ++i) lanes.place(7, 0);
  EXPECT_EQ(lanes.count(), 3u);
}

}  // namespace
}  // namespace assay
