// What must hold for any log and any intervals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "levels/telemetry.h"

namespace assay {
namespace {

constexpr int64_t kMs = 1'000'000;

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  // Readings 60 to 140 ms apart, now and then a hole.
  TelemetryTrack track(bool mean) {
    TelemetryTrack track;
    track.mean = mean;
    track.period_ns = 100 * kMs;
    int64_t t = 0;
    for (int i = 0; i < 200; ++i) {
      const int64_t from = t;
      t += 60 * kMs + below(80 * kMs) + (below(20) == 0 ? 500 * kMs : 0);
      if (mean) track.from_ns.push_back(from);
      track.t_ns.push_back(t);
      track.value.push_back(static_cast<double>(500 + below(1500)));
    }
    return track;
  }
  std::vector<Interval> intervals(int64_t longest) {
    std::vector<Interval> all;
    for (int i = 0; i < 30; ++i) {
      const int64_t start = below(20'000 * kMs);
      all.push_back({start, start + 1 + below(longest)});
    }
    return merge_intervals(std::move(all));
  }

 private:
  std::mt19937_64 random_;
};

void expect_same(const SampledValue& a, const SampledValue& b) {
  EXPECT_EQ(a.how, b.how);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_DOUBLE_EQ(a.coverage_share, b.coverage_share);
  EXPECT_THAT(b.value, ::testing::NanSensitiveDoubleEq(a.value));
  EXPECT_THAT(b.low, ::testing::NanSensitiveDoubleEq(a.low));
}

TEST(TelemetryProperty, MovingBothClocksChangesNothing) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    TelemetryTrack track = draw.track(seed % 2 == 0);
    std::vector<Interval> intervals = draw.intervals(seed % 3 == 0 ? 20 * kMs : 900 * kMs);
    const SampledValue before = sample_intervals(track, intervals);
    const int64_t by = 1'700'000'000'000'000'000 + draw.below(1'000'000'000);
    for (int64_t& t : track.t_ns) t += by;
    for (int64_t& t : track.from_ns) t += by;
    for (Interval& one : intervals) one = {one.start_ns + by, one.end_ns + by};
    expect_same(before, sample_intervals(track, intervals));
  }
}

TEST(TelemetryProperty, ValuesLieBetweenTheSamplesAndCoverageIsAShare) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const TelemetryTrack track = draw.track(seed % 2 == 0);
    const SampledValue value =
        sample_intervals(track, draw.intervals(seed % 3 == 0 ? 20 * kMs : 900 * kMs));
    EXPECT_GE(value.coverage_share, 0);
    EXPECT_LE(value.coverage_share, 1 + 1e-12);
    const auto [low, high] = std::minmax_element(track.value.begin(), track.value.end());
    if (!std::isnan(value.value)) {
      EXPECT_GE(value.value, *low - 1e-9);
      EXPECT_LE(value.value, *high + 1e-9);
      EXPECT_LE(value.low, value.value);
      EXPECT_GE(value.high, value.value);
    } else if (value.how == SampledHow::kBracket) {
      EXPECT_LE(value.low, value.high);
    }
  }
}

// The mean over a stretch is the weighted mean over any cut of it: weights sum to the whole.
TEST(TelemetryProperty, WeightsOfTheParts) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    TelemetryTrack track = draw.track(false);
    const int64_t begin = 2'000 * kMs + draw.below(100 * kMs);
    const int64_t middle = begin + 700 * kMs + draw.below(900 * kMs);
    const int64_t end = middle + 700 * kMs + draw.below(900 * kMs);
    const SampledValue first = sample_intervals(track, {{begin, middle}});
    const SampledValue second = sample_intervals(track, {{middle, end}});
    const SampledValue both = sample_intervals(track, {{begin, end}});
    if (first.how != SampledHow::kWeighted || second.how != SampledHow::kWeighted) continue;
    const double w1 = first.coverage_share * static_cast<double>(middle - begin);
    const double w2 = second.coverage_share * static_cast<double>(end - middle);
    EXPECT_NEAR(both.value, (w1 * first.value + w2 * second.value) / (w1 + w2), 1e-6);
    EXPECT_NEAR(both.coverage_share * static_cast<double>(end - begin), w1 + w2, 1);
  }
}

TEST(TelemetryProperty, AConstantSignalIsTheSameAtEveryRate) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    TelemetryTrack track = draw.track(seed % 2 == 0);
    std::fill(track.value.begin(), track.value.end(), 1234.5);
    const SampledValue value = sample_intervals(track, draw.intervals(900 * kMs));
    ASSERT_NE(value.how, SampledHow::kNone);
    EXPECT_DOUBLE_EQ(value.low, 1234.5);
    EXPECT_DOUBLE_EQ(value.high, 1234.5);
  }
}

TEST(TelemetryProperty, NoCoreMoreIsNeededThanIsActive) {
  Draw draw(7);
  for (int round = 0; round < 1000; ++round) {
    std::vector<float> percent(1 + static_cast<size_t>(draw.below(64)));
    for (float& one : percent) one = static_cast<float>(draw.below(1001)) / 10;
    EXPECT_LE(min_cores(percent.data(), percent.size()),
              active_cores(percent.data(), percent.size()) + 1e-9);
  }
}

}  // namespace
}  // namespace assay
