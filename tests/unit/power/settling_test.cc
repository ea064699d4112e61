#include "power/settling.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

// `runs` runs of `count` executions of 1000 ns, the first `fast` of them 3 % shorter; one sample
// at the end of each, 500 W, and `hot` W until execution `hot_until`.
SettlingRecord record_of(size_t runs, size_t count, size_t fast, double hot, size_t hot_until) {
  SettlingRecord record;
  record.samples_on_cpu_clock = true;
  int64_t now = 1'000'000;
  for (size_t run = 0; run < runs; ++run) {
    std::vector<PowerExecution> executions;
    for (size_t i = 0; i < count; ++i) {
      const int64_t took = i < fast ? 970 : 1000;
      executions.push_back({static_cast<uint32_t>(run), static_cast<uint32_t>(i), now, now + took});
      now += took;
      record.samples.push_back({.t_ns = now - 1, .power_w = i < hot_until ? hot : 500});
    }
    record.runs.push_back(executions);
    now += 100'000;
  }
  return record;
}

TEST(Settling, SteadyRunsSettleAfterTheirWarmUps) {
  const Settling found = find_settling(record_of(4, 128, 0, 500, 0), 3, 8);
  EXPECT_TRUE(found.settled);
  EXPECT_EQ(found.from_execution, 3U);
  EXPECT_EQ(found.t_exec_ns, 1000);
}

TEST(Settling, TimesThatChangeLateAreWaitedFor) {
  // 40 of 128 executions are fast: parts of two executions, so settled from 40 or a part later.
  const Settling found = find_settling(record_of(4, 128, 40, 500, 0), 3, 8);
  EXPECT_TRUE(found.settled);
  EXPECT_GE(found.from_execution, 40U);
  EXPECT_LE(found.from_execution, 44U);
}

TEST(Settling, PowerThatFallsLateIsWaitedFor) {
  // Parts of eight executions for power: hot until 40, so settled by the end of the next part.
  const Settling found = find_settling(record_of(4, 128, 0, 600, 40), 3, 8);
  EXPECT_TRUE(found.settled);
  EXPECT_GE(found.from_execution, 40U);
  EXPECT_LE(found.from_execution, 48U);
}

TEST(Settling, RunsThatStillChangeAtTheirEndAreNotSettled) {
  // The third quarter is hot, the last is not.
  EXPECT_FALSE(find_settling(record_of(4, 128, 0, 600, 96), 3, 8).settled);
  EXPECT_FALSE(find_settling(record_of(4, 128, 96, 500, 0), 3, 8).settled);
}

// A step of 3 % at 40 of 128: the early part ends before it, and the course settles behind it.
TEST(Settling, LateSettlingHasATimeAfterTheEarlyPart) {
  const LateSettling late = find_late_settling(record_of(1, 128, 40, 500, 0), 3, 16);
  EXPECT_TRUE(late.changes);
  EXPECT_FALSE(late.goes_on);
  EXPECT_GE(late.after_ns, 40 * 970);
  EXPECT_LE(late.after_ns, 44 * 1000);
}

// Every part is within 1 % of the last quarter but two of the early part, which are alone in it.
TEST(Settling, LateChangesAreNeverAfterNoTime) {
  SettlingRecord record = record_of(1, 6400, 0, 500, 0);
  // Wide parts of a hundred executions hide behind their scatter what sixteen of them show.
  int64_t now = 0;
  for (size_t i = 0; i < record.runs[0].size(); ++i) {
    PowerExecution& one = record.runs[0][i];
    const int64_t scatter = i < 1600 ? (i % 2 == 0 ? 100 : -100) : 0;
    one.start_ns = now;
    one.end_ns = now += (i < 1600 ? 1020 : 1000) + scatter;
  }
  const LateSettling late = find_late_settling(record, 0, 1600);
  EXPECT_TRUE(late.changes);
  EXPECT_GE(late.after_ns, 1600 * 1000);
}

TEST(Settling, PowerThatChangesAtTheEndHasNotSettled) {
  SettlingRecord record = record_of(1, 1280, 0, 500, 0);
  int64_t now = 0;
  for (size_t i = 0; i < record.runs[0].size(); ++i) {
    record.runs[0][i].start_ns = now;
    record.runs[0][i].end_ns = now += 10'000 + static_cast<int64_t>(i);  // by 13 % in all
  }
  const LateSettling late = find_late_settling(record, 3, 160);
  EXPECT_TRUE(late.changes);
  EXPECT_TRUE(late.goes_on);
  EXPECT_EQ(late.after_ns, 0);
}

TEST(Settling, TheTimeIsThatOfTheFullestBin) {
  SettlingRecord record = record_of(5, 128, 0, 500, 0);
  for (size_t run = 0; run < 2; ++run) {  // two of five runs are outliers, 20 % slower
    int64_t start = record.runs[run].front().start_ns;
    for (PowerExecution& one : record.runs[run]) {
      one.start_ns = start;
      one.end_ns = start += 1200;
    }
  }
  EXPECT_EQ(find_settling(record, 3, 8).t_exec_ns, 1000);
}

}  // namespace
}  // namespace assay
