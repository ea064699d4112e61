// Random slices against a viewer's stack and against the plainest way to choose a lane.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "base/lanes.h"

namespace assay {
namespace {

struct Slice {
  int64_t start = 0;
  int64_t dur = 0;
};

std::vector<Slice> random_slices(uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto below = [&generator](uint64_t n) { return static_cast<int64_t>(generator() % n); };
  const auto span = static_cast<uint64_t>(1 + below(2000));
  const auto longest = static_cast<uint64_t>(1 + below(400));
  std::vector<Slice> slices(static_cast<size_t>(below(600)));
  for (Slice& slice : slices) {
    slice = {below(span), below(8) == 0 ? 0 : below(longest)};
  }
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.start, -a.dur) < std::tuple(b.start, -b.dur);
  });
  return slices;
}

// Perfetto's rule: what ended is taken off, and what begins inside the innermost slice must end in
// it. Slices without length at one moment stack.
bool nests(const std::vector<Slice>& lane, size_t& depth) {
  std::vector<Slice> open;
  for (const Slice& slice : lane) {
    while (!open.empty()) {
      const int64_t end = open.back().start + open.back().dur;
      const bool moments = open.back().dur == 0 && slice.dur == 0;
      if (end > slice.start || (end == slice.start && moments)) break;
      open.pop_back();
    }
    if (!open.empty() && slice.start + slice.dur > open.back().start + open.back().dur)
      return false;
    open.push_back(slice);
    depth = std::max(depth, open.size());
  }
  return true;
}

TEST(LanesProperty, EveryLaneNestsAndNoSliceIsLost) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const std::vector<Slice> slices = random_slices(seed);
    Lanes lanes;
    std::vector<std::vector<Slice>> placed;
    for (const Slice& slice : slices) {
      const uint32_t lane = lanes.place(slice.start, slice.dur);
      if (lane >= placed.size()) placed.resize(lane + 1);
      placed[lane].push_back(slice);
    }
    ASSERT_EQ(placed.size(), lanes.count());
    size_t held = 0;
    for (const std::vector<Slice>& lane : placed) {
      size_t depth = 0;
      ASSERT_TRUE(nests(lane, depth)) << "seed " << seed;
      ASSERT_LE(depth, Lanes::kMostNested);
      ASSERT_FALSE(lane.empty());
      held += lane.size();
    }
    ASSERT_EQ(held, slices.size());
  }
}

// The first lane whose open slices all reach as far as the new one, tried one by one.
TEST(LanesProperty, ALaneIsOpenedOnlyIfAllAreFull) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Lanes lanes;
    std::vector<std::vector<int64_t>> open;
    for (const Slice& slice : random_slices(seed)) {
      const int64_t end = slice.start + std::max<int64_t>(slice.dur, 1);
      size_t lane = 0;
      for (; lane < open.size(); ++lane) {
        std::erase_if(open[lane], [&slice](int64_t other) { return other <= slice.start; });
        const bool room = std::all_of(open[lane].begin(), open[lane].end(),
                                      [end](int64_t other) { return other >= end; });
        if (room && open[lane].size() < Lanes::kMostNested) break;
      }
      if (lane == open.size()) open.emplace_back();
      open[lane].push_back(end);
      ASSERT_EQ(lanes.place(slice.start, slice.dur), lane) << "seed " << seed;
    }
    ASSERT_EQ(lanes.count(), open.size());
  }
}

TEST(LanesProperty, ManyLanesCostNoMoreThanSorting) {
  Lanes lanes;
  constexpr int64_t kSlices = 200'000;
  for (int64_t i = 0; i < kSlices; ++i) lanes.place(i, kSlices);  // each outlives those before
  EXPECT_EQ(lanes.count(), static_cast<size_t>(kSlices));
}

}  // namespace
}  // namespace assay
