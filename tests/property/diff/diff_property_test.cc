// Random sides: sums are exact, sides exchanged give the opposite, a side against itself nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/intervals.h"
#include "base/random.h"
#include "diff/compare.h"
#include "diff/partition.h"
#include "diff/sequence.h"

namespace assay {
namespace {

DiffLevelRun random_level(SplitMix64& random, const std::vector<DiffSample>& samples,
                          bool with_sequence) {
  DiffLevelRun level;
  const int64_t kinds = 1 + random.below(12);
  for (int64_t i = 0; i < kinds; ++i) {
    DiffItem item;
    item.name = "item" + std::to_string(i * 3 + random.below(3));
    item.shown = item.name;
    if (random.chance(0.5)) item.family = "family" + std::to_string(random.below(4));
    if (random.chance(0.5)) item.path = "path" + std::to_string(random.below(4));
    item.rest = random.chance(0.1);
    level.items.push_back(item);
  }
  // Every level splits the same times.
  for (const DiffSample& sample : samples) {
    int64_t left = sample.time_ns;
    level.samples.emplace_back();
    for (uint32_t i = 0; i < level.items.size(); ++i) {
      const bool last = i + 1 == level.items.size();
      const int64_t time = last ? left : random.below(left + 1);
      const int64_t busy = random.below(time + 1);
      left -= time;
      level.samples.back().push_back(
          {i, {static_cast<uint64_t>(random.below(5)), busy, time - busy, busy}});
    }
  }
  for (int64_t i = 0; with_sequence && i < 30; ++i) {
    level.sequence.push_back(static_cast<uint32_t>(random.below(kinds)));
  }
  return level;
}

DiffRun random_run(SplitMix64& random) {
  DiffRun run;
  run.iterations = true;
  const int64_t iterations = 1 + random.below(12);
  for (int64_t i = 0; i < iterations; ++i) {
    run.samples.push_back({static_cast<int32_t>(i), 0, 1000 + random.below(500)});
  }
  for (size_t l = 0; l < kDiffLevels; ++l) {
    run.levels[l] = random_level(random, run.samples, l != 0);
  }
  DiffMetricSeries series{.key = "kernels", .unit = DiffUnit::kCount};
  for (int64_t i = 0; i < iterations; ++i) {
    series.iterations.push_back(static_cast<int32_t>(i));
    series.values.push_back(static_cast<double>(random.below(100)));
  }
  run.metrics.push_back(series);
  return run;
}

std::vector<DiffRun> random_side(SplitMix64& random) {
  std::vector<DiffRun> runs;
  for (int64_t i = random.below(3); i >= 0; --i) runs.push_back(random_run(random));
  return runs;
}

constexpr Resampling kFew{.resamples = 200};

TEST(DiffProperty, ContributionsSumToTheChangeAtEveryLevel) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SplitMix64 random(seed);
    const DiffReport report =
        compare_sides(make_side(random_side(random)), make_side(random_side(random)), kFew);
    for (const DiffLevel& level : report.levels) {
      int64_t change = 0;
      int64_t a = 0;
      int64_t b = 0;
      for (const DiffRow& row : level.rows) {
        EXPECT_EQ(row.change_ns, row.b.time_ns - row.a.time_ns);
        EXPECT_EQ(row.change_ns, row.more_calls_ns + row.slower_ns + row.idle_change_ns);
        change += row.change_ns;
        a += row.a.time_ns;
        b += row.b.time_ns;
      }
      // What the headings count is what the rows say.
      EXPECT_EQ(level.slower + level.faster + level.same + level.appeared + level.vanished,
                level.rows.size());
      EXPECT_EQ(change, report.change_ns) << seed;
      EXPECT_EQ(a, report.a.time_ns) << seed;
      EXPECT_EQ(b, report.b.time_ns) << seed;
    }
  }
}

TEST(DiffProperty, ExchangedSidesGiveTheOpposite) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SplitMix64 random(seed);
    const DiffSide a = make_side(random_side(random));
    const DiffSide b = make_side(random_side(random));
    const DiffReport there = compare_sides(a, b, kFew);
    const DiffReport back = compare_sides(b, a, kFew);
    EXPECT_EQ(there.change_ns, -back.change_ns);
    ASSERT_EQ(there.metrics.size(), back.metrics.size());
    for (size_t i = 0; i < there.metrics.size(); ++i) {
      EXPECT_EQ(there.metrics[i].change, -back.metrics[i].change);
      EXPECT_EQ(there.metrics[i].interval.low, -back.metrics[i].interval.high) << seed;
      EXPECT_EQ(there.metrics[i].noise, back.metrics[i].noise);
    }
    for (size_t l = 0; l < kDiffLevels; ++l) {
      ASSERT_EQ(there.levels[l].rows.size(), back.levels[l].rows.size()) << seed;
      EXPECT_EQ(there.levels[l].appeared, back.levels[l].vanished);
      for (size_t i = 0; i < there.levels[l].rows.size(); ++i) {
        const DiffRow& x = there.levels[l].rows[i];
        const DiffRow& y = back.levels[l].rows[i];
        EXPECT_EQ(x.a.name, y.b.name) << seed;
        EXPECT_EQ(x.b.name, y.a.name) << seed;
        EXPECT_EQ(x.match, y.match);
        EXPECT_EQ(x.change_ns, -y.change_ns);
        EXPECT_EQ(x.more_calls_ns, -y.more_calls_ns);
        EXPECT_EQ(x.slower_ns, -y.slower_ns);
        EXPECT_EQ(x.interval.low, -y.interval.high) << seed;
      }
    }
  }
}

TEST(DiffProperty, ASideAgainstItselfIsZeroEverywhere) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SplitMix64 random(seed);
    const DiffSide side = make_side(random_side(random));
    const DiffReport report = compare_sides(side, side, kFew);
    EXPECT_EQ(report.change_ns, 0);
    for (const DiffMetric& metric : report.metrics) {
      EXPECT_EQ(metric.change, 0);
      EXPECT_EQ(metric.interval.low, 0);
      EXPECT_EQ(metric.interval.high, 0);
      EXPECT_EQ(metric.noise, DiffNoise::kNoChange);
    }
    for (const DiffLevel& level : report.levels) {
      EXPECT_EQ(level.appeared + level.vanished + level.renamed + level.slower + level.faster, 0u);
      for (const DiffRow& row : level.rows) {
        EXPECT_EQ(row.match, DiffMatch::kName);
        EXPECT_EQ(row.more_calls_ns, 0);
        EXPECT_EQ(row.slower_ns, 0);
        EXPECT_EQ(row.idle_change_ns, 0);
        EXPECT_EQ(row.noise, DiffNoise::kNoChange);
      }
    }
  }
}

// On adjoining iterations every instant is given to exactly one work or tail.
TEST(PartitionProperty, GivesAwayAllTimeOnce) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SplitMix64 random(seed);
    std::vector<Interval> windows;
    int64_t at = 0;
    for (int64_t w = 1 + random.below(4); w > 0; --w) {
      const int64_t length = 50 + random.below(100);
      windows.push_back({at, at + length});
      at += length;
    }
    std::vector<DeviceWork> works;
    int64_t start = random.below(20);
    for (int32_t w = 0; w < static_cast<int32_t>(windows.size()); ++w) {
      for (int64_t k = 1 + random.below(6); k > 0; --k) {
        DeviceWork work{.gpu = 0, .window = w};
        work.work_class = static_cast<WorkClass>(random.below(3));
        work.start_ns = start;
        work.end_ns = start + random.below(40);
        work.launch_ns = start - random.below(30);
        works.push_back(work);
        start += random.below(30);
      }
      start = std::max(start, windows[static_cast<size_t>(w)].end_ns - random.below(40));
    }
    int64_t end = windows.back().end_ns;
    std::vector<Interval> all;
    int64_t given = 0;
    int64_t busy = 0;
    const Partition partition = partition_time(works, windows);
    for (size_t i = 0; i < works.size(); ++i) {
      end = std::max(end, works[i].end_ns);
      all.push_back({works[i].start_ns, works[i].end_ns});
      EXPECT_GE(partition.shares[i].busy_ns, 0);
      busy += partition.shares[i].busy_ns;
      given += partition.shares[i].busy_ns + partition.shares[i].idle_ns();
    }
    for (const WindowTail& tail : partition.tails) given += tail.tail_ns();
    EXPECT_EQ(busy, union_ns(all)) << seed;
    EXPECT_EQ(given, end) << seed;
  }
}

// Length of the longest common subsequence, by the textbook table.
size_t lcs(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      best[i][j] =
          a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
    }
  }
  return best[a.size()][b.size()];
}

TEST(SequenceProperty, FindsAShortestEditScript) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SplitMix64 random(seed);
    std::vector<uint32_t> a(static_cast<size_t>(random.below(25)));
    std::vector<uint32_t> b(static_cast<size_t>(random.below(25)));
    for (uint32_t& x : a) x = static_cast<uint32_t>(random.below(5));
    for (uint32_t& x : b) x = static_cast<uint32_t>(random.below(5));
    const auto hunks = align_sequences(a, b, 1000);
    ASSERT_TRUE(hunks);
    size_t edits = 0;
    size_t i = 0;
    size_t j = 0;
    for (const Hunk& hunk : *hunks) {
      ASSERT_EQ(hunk.a_begin - i, hunk.b_begin - j) << seed;
      for (; i < hunk.a_begin; ++i, ++j) EXPECT_EQ(a[i], b[j]);
      edits += hunk.a_end - hunk.a_begin + hunk.b_end - hunk.b_begin;
      i = hunk.a_end;
      j = hunk.b_end;
    }
    ASSERT_EQ(a.size() - i, b.size() - j);
    for (; i < a.size(); ++i, ++j) EXPECT_EQ(a[i], b[j]);
    EXPECT_EQ(edits, a.size() + b.size() - 2 * lcs(a, b)) << seed;
    if (edits > 0) {
      EXPECT_FALSE(align_sequences(a, b, edits - 1));
    }
  }
}

}  // namespace
}  // namespace assay
