// What must hold for any log and any intervals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "breakdown/telemetry.h"

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

// The whole rule over again, millisecond by millisecond: who stands for it is the nearest reading
// within reach, or the mean whose interval it lies in.
struct Slots {
  double time = 0;
  double value = 0;
  double variance = 0;  // of the sum of values
  size_t reaching = 0;
  size_t inside = 0;
};
double half_squares(const std::vector<double>& v, size_t i) {
  double sum = 0;
  double n = 0;
  for (const int side : {-1, 1}) {
    if ((side < 0 && i == 0) || (side > 0 && i + 1 == v.size())) continue;
    const double step = v[i] - v[side < 0 ? i - 1 : i + 1];
    sum += step * step / 2;
    ++n;
  }
  return sum / n;
}
Slots by_slots(const TelemetryTrack& track, const std::vector<Interval>& merged) {
  const auto inside = [&](double at) {
    return std::any_of(merged.begin(), merged.end(), [&](const Interval& one) {
      return at >= static_cast<double>(one.start_ns) && at < static_cast<double>(one.end_ns);
    });
  };
  std::vector<double> own(track.t_ns.size());
  for (int64_t slot = 0; slot < 40'000; ++slot) {
    const double at = (static_cast<double>(slot) + 0.5) * kMs;
    if (!inside(at)) continue;
    size_t who = SIZE_MAX;
    double nearest = 0.75 * static_cast<double>(track.period_ns);
    for (size_t i = 0; i < track.t_ns.size(); ++i) {
      if (track.mean) {
        if (at > static_cast<double>(track.from_ns[i]) && at < static_cast<double>(track.t_ns[i])) {
          who = i;
        }
      } else if (const double far = std::abs(static_cast<double>(track.t_ns[i]) - at);
                 far < nearest) {
        nearest = far;
        who = i;
      }
    }
    if (who != SIZE_MAX) own[who] += kMs;
  }
  Slots slots;
  for (size_t i = 0; i < own.size(); ++i) {
    if (!track.mean && inside(static_cast<double>(track.t_ns[i]))) ++slots.inside;
    if (own[i] == 0) continue;
    ++slots.reaching;
    slots.time += own[i];
    slots.value += own[i] * track.value[i];
    const bool whole =
        track.mean && own[i] == static_cast<double>(track.t_ns[i] - track.from_ns[i]);
    if (!whole) slots.variance += own[i] * own[i] * half_squares(track.value, i);
  }
  return slots;
}

TEST(TelemetryProperty, EveryMillisecondIsStoodForByTheNearestReading) {
  int weighted = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Draw draw(seed);
    TelemetryTrack track = draw.track(seed % 2 == 0);
    // Even milliseconds, so that half ways are whole ones.
    for (int64_t& t : track.t_ns) t -= t % (2 * kMs);
    for (int64_t& t : track.from_ns) t -= t % (2 * kMs);
    std::vector<Interval> intervals = draw.intervals(seed % 3 == 0 ? 40 * kMs : 900 * kMs);
    for (Interval& one : intervals) {
      one = {one.start_ns - one.start_ns % kMs, one.end_ns - one.end_ns % kMs + kMs};
    }
    intervals = merge_intervals(std::move(intervals));
    const SampledValue value = sample_intervals(track, intervals);
    const Slots slots = by_slots(track, intervals);
    EXPECT_NEAR(value.coverage_share, slots.time / static_cast<double>(length_ns(intervals)), 1e-9);
    EXPECT_EQ(value.samples, track.mean ? slots.reaching : slots.inside) << seed;
    if (value.how != SampledHow::kWeighted) continue;
    ++weighted;
    const double error = 1.959963984540054 * std::sqrt(slots.variance) / slots.time;
    EXPECT_NEAR(value.value, slots.value / slots.time, 1e-6) << seed;
    EXPECT_NEAR(value.high - value.value, error, 1e-6) << seed;
    EXPECT_NEAR(value.value - value.low, error, 1e-6) << seed;
  }
  EXPECT_GT(weighted, 10);
}

// What is shown where samples cannot tell spans what lies around, and no more.
TEST(TelemetryProperty, ABracketIsTheSamplesThatReachInAndTheirNeighbours) {
  int brackets = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    TelemetryTrack track = draw.track(false);
    track.signal = TelemetrySignal::kPower;
    const size_t at = 2 + static_cast<size_t>(draw.below(190));
    const SampledValue value =
        sample_intervals(track, {{track.t_ns[at] - kMs, track.t_ns[at] + kMs}});
    ASSERT_EQ(value.how, SampledHow::kBracket);
    EXPECT_EQ(value.low, std::min({track.value[at - 1], track.value[at], track.value[at + 1]}));
    EXPECT_EQ(value.high, std::max({track.value[at - 1], track.value[at], track.value[at + 1]}));
    ++brackets;
  }
  EXPECT_EQ(brackets, 60);
}

// Local time is ahead of UTC east of Greenwich; what the user adds is added. Every time of the log
// moves by the same.
TEST(TelemetryProperty, OffsetAndZoneMoveEveryTimeOfALogAlike) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const TelemetryTrack gauge = draw.track(false);
    const TelemetryTrack mean = draw.track(true);
    TelemetryLog log;
    log.clock = seed % 2 == 0 ? LogClock::kLocalTime : LogClock::kEpoch;
    log.series.push_back({"0", TelemetryQuantity::kPower, gauge.t_ns, gauge.value});
    log.cpu.cpus = {0};
    log.cpu.from_ns = mean.from_ns;
    log.cpu.t_ns = mean.t_ns;
    log.cpu.percent.assign(mean.t_ns.size(), 50);
    TelemetryOptions options;
    options.offset_ns = draw.below(10'000 * kMs) - 5'000 * kMs;
    options.offset_told = true;
    options.zone_ns = (draw.below(27) - 12) * 3'600'000 * kMs;
    options.at_start = seed % 3 == 0;
    const int64_t first_work_ns = draw.below(1'000'000 * kMs);
    const auto placed = place_telemetry({log}, options, first_work_ns);
    ASSERT_TRUE(placed);
    const int64_t first = std::min(gauge.t_ns.front(), mean.from_ns.front());
    const int64_t by =
        options.at_start
            ? first_work_ns - first
            : options.offset_ns - (log.clock == LogClock::kLocalTime ? options.zone_ns : 0);
    EXPECT_EQ(placed->files[0].offset_ns, by);
    EXPECT_EQ(placed->files[0].span.start_ns, first + by);
    EXPECT_EQ(placed->files[0].span.end_ns, std::max(gauge.t_ns.back(), mean.t_ns.back()) + by);
    EXPECT_EQ(placed->cpu.from_ns.front(), mean.from_ns.front() + by);
    EXPECT_EQ(placed->cpu.t_ns.back(), mean.t_ns.back() + by);
    ASSERT_EQ(placed->tracks.size(), 3U);
    for (const TelemetryTrack& track : placed->tracks) {
      const TelemetryTrack& before = track.mean ? mean : gauge;
      ASSERT_EQ(track.t_ns.size(), before.t_ns.size());
      for (size_t i = 0; i < track.t_ns.size(); ++i) {
        EXPECT_EQ(track.t_ns[i], before.t_ns[i] + by);
        if (track.mean) {
          EXPECT_EQ(track.from_ns[i], before.from_ns[i] + by);
        }
      }
    }
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
