#include "diff/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "diff/caveats.h"

namespace assay {
namespace {

constexpr size_t kKernels = static_cast<size_t>(DiffLevelKind::kKernel);

struct Use {
  const char* name;
  uint64_t calls;
  int64_t busy_ns;
  int64_t idle_ns;
};

// One iteration per element, the kernel level alone.
DiffRun run_of(const std::vector<std::vector<Use>>& iterations) {
  DiffRun run;
  run.iterations = true;
  DiffLevelRun& level = run.levels[kKernels];
  for (size_t i = 0; i < iterations.size(); ++i) {
    DiffSample sample{.iteration = static_cast<int32_t>(i)};
    level.samples.emplace_back();
    for (const Use& use : iterations[i]) {
      size_t id = 0;
      while (id < level.items.size() && level.items[id].name != use.name) ++id;
      if (id == level.items.size()) level.items.push_back({.name = use.name, .shown = use.name});
      level.samples.back().push_back(
          {static_cast<uint32_t>(id), {use.calls, use.busy_ns, use.idle_ns, use.busy_ns}});
      sample.time_ns += use.busy_ns + use.idle_ns;
    }
    run.samples.push_back(sample);
  }
  return run;
}

DiffReport compared(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b) {
  return compare_sides(make_side(a), make_side(b), {.resamples = 400});
}

const DiffRow& row_of(const DiffReport& report, const char* name) {
  for (const DiffRow& row : report.levels[kKernels].rows) {
    if (row.a.name == name || row.b.name == name) return row;
  }
  ADD_FAILURE() << name;
  return report.levels[kKernels].rows.front();
}

TEST(Compare, SplitsAChangeIntoCallsAndCost) {
  // 10 calls of 100 + 20 become 12 of 110 + 40. Cost per call 120 -> 150, its mean 135: 2 calls
  // more are 270; idle per call +20 at 11 calls is 220; 12*150 - 10*120 = 600, the rest 110.
  const DiffReport report =
      compared({run_of({{{"k", 10, 1000, 200}}})}, {run_of({{{"k", 12, 1320, 480}}})});
  const DiffRow& row = row_of(report, "k");
  EXPECT_EQ(row.change_ns, 600);
  EXPECT_EQ(row.more_calls_ns, 270);
  EXPECT_EQ(row.idle_change_ns, 220);
  EXPECT_EQ(row.slower_ns, 110);
}

TEST(Compare, AppearingAndVanishingItemsAreCalls) {
  const DiffReport report =
      compared({run_of({{{"old", 2, 50, 10}}})}, {run_of({{{"new", 3, 80, 5}}})});
  EXPECT_EQ(row_of(report, "old").kind, DiffKind::kVanished);
  EXPECT_EQ(row_of(report, "old").more_calls_ns, -60);
  EXPECT_EQ(row_of(report, "new").kind, DiffKind::kAppeared);
  EXPECT_EQ(row_of(report, "new").more_calls_ns, 85);
  EXPECT_EQ(report.change_ns, 25);
}

TEST(Compare, MeansOfIterationsAreRoundedSoThatTheySumToTheTotal) {
  // Sums 10, 10, 11 over 3 iterations: means 3 1/3, 3 1/3, 3 2/3 of 10 1/3 -> 10. The largest
  // remainder is c's.
  const DiffRun run = run_of({{{"a", 1, 10, 0}, {"b", 1, 10, 0}}, {{"c", 1, 11, 0}}, {}});
  const DiffReport report = compared({run}, {run_of({{{"a", 1, 3, 0}}})});
  EXPECT_EQ(report.a.time_ns, 10);
  EXPECT_EQ(row_of(report, "a").a.time_ns, 3);
  EXPECT_EQ(row_of(report, "b").a.time_ns, 3);
  EXPECT_EQ(row_of(report, "c").a.time_ns, 4);
}

TEST(Compare, SingleIterationDoesNotShowNoise) {
  const DiffReport report =
      compared({run_of({{{"k", 1, 100, 0}}})}, {run_of({{{"k", 1, 900, 0}}})});
  EXPECT_EQ(report.time.noise, DiffNoise::kUnknown);
  EXPECT_FALSE(report.time.interval.known);
  EXPECT_EQ(row_of(report, "k").noise, DiffNoise::kUnknown);
  const TrustNotes notes = diff_caveats({DiffRun{}}, {DiffRun{}}, report);
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front().what, "diff_one_sample");
}

bool has_note(const TrustNotes& notes, const char* what, uint64_t count) {
  for (const TrustNote& note : notes) {
    if (note.what == what) return note.count == count;
  }
  return false;
}

TEST(Compare, ReportsTheSameRecordingOnBothSides) {
  const DiffRun run = run_of({{{"k", 1, 100, 0}, {"j", 2, 30, 5}}});
  DiffRun renamed_file = run;
  renamed_file.file = "another name";
  const DiffRun slower = run_of({{{"k", 1, 101, 0}, {"j", 2, 29, 5}}});
  const DiffRun other_name = run_of({{{"k", 1, 100, 0}, {"l", 2, 30, 5}}});
  const DiffReport report = compared({run}, {run});
  EXPECT_TRUE(has_note(diff_caveats({run}, {renamed_file}, report), "diff_same_recording", 1));
  EXPECT_TRUE(has_note(diff_caveats({run, slower}, {run}, report), "diff_same_recording", 1));
  for (const DiffRun& other : {slower, other_name, DiffRun{}}) {
    EXPECT_FALSE(has_note(diff_caveats({run}, {other}, report), "diff_same_recording", 1));
  }
}

TEST(Compare, ReportsSidesWithLittleInCommon) {
  const DiffRun run = run_of({{{"k", 1, 100, 0}, {"j", 1, 20, 0}}});
  const DiffRun other = run_of({{{"l", 1, 100, 0}, {"j", 1, 20, 0}}});
  const DiffRun nearer = run_of({{{"l", 1, 75, 0}, {"j", 1, 25, 0}}});
  const auto differs = [&](const DiffRun& b) {
    return has_note(diff_caveats({run}, {b}, compared({run}, {b})), "diff_little_common", 1);
  };
  EXPECT_TRUE(differs(other));
  EXPECT_TRUE(differs(nearer));  // 25 % of B, but 17 % of A
  EXPECT_FALSE(differs(run));
  EXPECT_FALSE(differs(run_of({{{"k", 1, 30, 0}, {"l", 1, 70, 0}}})));
  EXPECT_FALSE(differs(run_of({{}})));
}

TEST(Compare, ReportsWorkQueuedBeforeTheWindow) {
  DiffRun run = run_of({{{"k", 1, 100, 0}}});
  run.kernels_unlinked = 5;
  run.kernels_carried_over = 3;
  run.works_outside = 7;
  run.works_outside_ns = 900;
  const TrustNotes notes = diff_caveats({run}, {DiffRun{}}, compared({run}, {run}));
  EXPECT_TRUE(has_note(notes, "diff_carried_over_kernels", 3));
  EXPECT_TRUE(has_note(notes, "diff_unlinked_kernels", 2));
  EXPECT_TRUE(has_note(notes, "diff_work_outside", 7));
}

std::vector<std::vector<Use>> times(const std::vector<int64_t>& all) {
  std::vector<std::vector<Use>> iterations;
  for (const int64_t ns : all) iterations.push_back({{"k", 1, ns, 0}});
  return iterations;
}

// Of a side that does not vary, the relative change is the change over it; of one that does, so
// does what the change is measured by.
TEST(Compare, ARelativeChangeVariesWithBothSides) {
  const DiffRun still = run_of(times({200, 200, 200, 200}));
  const DiffRun moving = run_of(times({300, 302, 298, 300}));
  const DiffMetric up = compared({still}, {moving}).time;
  ASSERT_TRUE(up.share_interval.known);
  EXPECT_DOUBLE_EQ(up.share_interval.low, up.interval.low / 200);
  EXPECT_DOUBLE_EQ(up.share_interval.high, up.interval.high / 200);
  const DiffMetric down = compared({moving}, {still}).time;
  ASSERT_TRUE(down.share_interval.known);
  // 200 / (300 + d) - 1 at the ends of the interval of 200 - (300 + d).
  EXPECT_DOUBLE_EQ(down.share_interval.low, down.interval.low / (200 - down.interval.low));
  EXPECT_DOUBLE_EQ(down.share_interval.high, down.interval.high / (200 - down.interval.high));
  EXPECT_EQ(compared({moving}, {moving}).time.share_interval.high, 0);
  EXPECT_FALSE(compared({run_of(times({200}))}, {moving}).time.share_interval.known);
}

TEST(Compare, FromNothingToSomethingIsBeyondAnyPercentage) {
  const DiffRun none = run_of(times({0, 0, 0}));
  const DiffMetric up = compared({none}, {run_of(times({5, 5, 5}))}).time;
  ASSERT_TRUE(up.share_interval.known);
  EXPECT_EQ(up.share_interval.low, HUGE_VAL);
  EXPECT_EQ(compared({none}, {none}).time.share_interval.low, 0);
}

TEST(Compare, SeparatesNoiseFromChange) {
  const DiffRun base = run_of(times({100, 102, 98, 101, 99, 100}));
  const DiffRun near = run_of(times({101, 103, 98, 102, 99, 100}));
  const DiffRun far = run_of(times({150, 152, 148, 151, 149, 150}));
  EXPECT_EQ(compared({base}, {near}).time.noise, DiffNoise::kNoise);
  EXPECT_EQ(compared({base}, {far}).time.noise, DiffNoise::kReal);
  EXPECT_EQ(compared({base}, {base}).time.noise, DiffNoise::kNoChange);
}

// 16 steps a side in 8 blocks of two; one step of 600 after a change of 28.
TEST(Compare, OutlierIterationHidesNoChangeOfTheTypicalOne) {
  const DiffRun before = run_of(
      times({150, 151, 150, 151, 149, 150, 152, 150, 151, 150, 149, 151, 150, 150, 151, 150}));
  const DiffRun after = run_of(
      times({122, 123, 122, 600, 121, 122, 124, 122, 123, 122, 121, 123, 122, 122, 123, 122}));
  const DiffReport report = compared({before}, {after});
  EXPECT_EQ(report.time.noise, DiffNoise::kNoise);
  EXPECT_TRUE(report.typical.real());
  EXPECT_NEAR(report.typical.change, -28, 0.5);
  EXPECT_FALSE(compared({before}, {before}).typical.real());
}

TEST(Compare, RepeatsAreDrawnWhole) {
  // Within a run nothing varies; between runs it does.
  const DiffRun slow = run_of(times({120, 120, 120}));
  const DiffRun fast = run_of(times({100, 100, 100}));
  const DiffReport report = compared({slow, fast}, {slow, fast, slow});
  EXPECT_EQ(report.a.block_kind, BlockKind::kRuns);
  EXPECT_EQ(report.a.blocks, 2u);
  EXPECT_EQ(report.b.blocks, 3u);
  EXPECT_EQ(report.time.noise, DiffNoise::kNoise);
}

TEST(Compare, RanksOfOneRunAreOneRepeat) {
  DiffRun rank0 = run_of(times({100, 102}));
  DiffRun rank1 = run_of(times({104, 106}));
  rank0.rank = 0;
  rank1.rank = 1;
  const DiffReport report = compared({rank0, rank1}, {rank0, rank1, rank0, rank1});
  EXPECT_EQ(report.a.repeats, 1u);
  EXPECT_EQ(report.a.iterations, 2u);
  EXPECT_EQ(report.a.samples, 4u);
  EXPECT_EQ(report.a.time_ns, 103);
  EXPECT_EQ(report.b.repeats, 2u);
  EXPECT_EQ(report.change_ns, 0);
}

TEST(Compare, SaysWhatKeepsSidesFromBeingComparable) {
  DiffRun a = run_of(times({100, 100}));
  DiffRun b = run_of(times({100}));
  a.gpu = "V100";
  b.gpu = "A100";
  a.stacks = true;
  a.window_source = b.window_source = "profiler_step";
  const TrustNotes notes = diff_caveats({a}, {b}, compared({a}, {b}));
  std::vector<std::string> what;
  for (const TrustNote& note : notes) what.push_back(note.what);
  EXPECT_THAT(what, ::testing::ElementsAre("diff_gpu", "diff_iterations", "diff_stacks",
                                           "diff_one_sample"));
}

TEST(Compare, SingleEstimateOfARunNeedsRepeatedRuns) {
  const auto with_floor = [](double value) {
    DiffRun run = run_of(times({100, 100}));
    run.metrics = {{.key = "kt_ns", .iterations = {0, 1}, .values = {value, value}}};
    DiffMetricSeries own = run.metrics.front();
    own.key = "tklqt_ns";
    run.metrics.front().per_run = true;
    run.metrics.push_back(own);
    return run;
  };
  const DiffReport once = compared({with_floor(8)}, {with_floor(12)});
  EXPECT_EQ(once.metrics[1].key, "kt_ns");
  EXPECT_EQ(once.metrics[1].change, 4);
  EXPECT_EQ(once.metrics[1].noise, DiffNoise::kUnknown);
  EXPECT_EQ(once.metrics[2].noise, DiffNoise::kReal);
  const DiffReport repeated =
      compared({with_floor(8), with_floor(8)}, {with_floor(12), with_floor(12)});
  EXPECT_EQ(repeated.metrics[1].noise, DiffNoise::kReal);
}

TEST(Compare, SaysWhenTheSidesHaveOtherRanks) {
  std::vector<DiffRun> runs(3, run_of(times({100, 100})));
  for (size_t i = 0; i < runs.size(); ++i) runs[i].rank = static_cast<int64_t>(i);
  const std::vector<DiffRun> fewer = {runs[0], runs[2]};
  const auto told = [](const std::vector<DiffRun>& a, const std::vector<DiffRun>& b) {
    for (const TrustNote& note : diff_caveats(a, b, compared(a, b))) {
      if (note.what == "diff_ranks") return note.count;
    }
    return uint64_t{0};
  };
  EXPECT_EQ(told(fewer, runs), 1u);
  EXPECT_EQ(told(runs, fewer), 1u);
  EXPECT_EQ(told(runs, runs), 0u);
}

}  // namespace
}  // namespace assay
