#include "diff/pace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "base/random.h"

namespace assay {
namespace {

struct Named {
  const char* name;
  uint64_t calls;
  double typical_ns;
};

// Ten iterations of one GPU, in each of which the device is idle so long behind the host.
DiffRun run_of(const std::vector<Named>& named, int64_t behind_host_ns) {
  DiffRun run;
  run.host_iterations = 10;
  for (const Named& one : named)
    run.host_calls.push_back({one.name, 10 * one.calls, one.typical_ns});
  DiffLevelRun& parts = run.levels[static_cast<size_t>(DiffLevelKind::kPart)];
  parts.items = {{.name = "computing", .rest = true},
                 {.name = "idle: operators", .rest = true, .host = true}};
  for (int32_t i = 0; i < 10; ++i) {
    run.samples.push_back({.iteration = i, .time_ns = 5000 + behind_host_ns});
    parts.samples.push_back(
        {{0, {.calls = 1, .busy_ns = 4000, .idle_ns = 1000}}, {1, {.idle_ns = behind_host_ns}}});
  }
  return run;
}

const std::vector<Named> kSlow = {{"add", 6, 20},  {"addmm", 4, 40},  {"view", 9, 2},
                                  {"norm", 2, 50}, {"launch", 30, 8}, {"only in A", 3, 70}};
const std::vector<Named> kFast = {{"add", 6, 10},  {"addmm", 4, 20},  {"view", 9, 1.2},
                                  {"norm", 2, 26}, {"launch", 30, 4}, {"only in B", 1, 9}};

// By hand. Ratios and weights sqrt(time A x time B), per iteration: add 0.5 (84.85), addmm 0.5
// (113.1), launch 0.5 (169.7), norm 0.52 (72.1), view 0.6 (13.9): 453.8 in all, of which 45.4 lie
// at 0.5 and, from above, 0.52 (view has 13.9 only); the middle is 0.5. Of the change in idle time
// (0.5 - 1) x (8000 + 3000 / 0.5) / 2 = -3500.
TEST(DiffPace, OneFactorOfTheSameWork) {
  const PaceChange pace = compare_pace({run_of(kSlow, 8000)}, {run_of(kFast, 3000)});
  EXPECT_TRUE(pace.differs());
  EXPECT_EQ(pace.names, 5U);
  EXPECT_DOUBLE_EQ(pace.ratio, 0.5);
  EXPECT_DOUBLE_EQ(pace.low, 0.5);
  EXPECT_DOUBLE_EQ(pace.high, 0.52);
  EXPECT_EQ(pace.change_ns, -3500);
  EXPECT_EQ(pace.from_ns, -3500);
  EXPECT_EQ(pace.to_ns, -3305);  // -0.48 x (8000 + 3000 / 0.52) / 2
}

// Two names in common; then five with 638 of 6,638 ns of an iteration of A, and 322.8 of 9,322.8 of
// B; then one that became slower while the others became faster.
TEST(DiffPace, SaysWhyThereIsNone) {
  const auto none = [](const std::vector<Named>& a, const std::vector<Named>& b) {
    const PaceChange pace = compare_pace({run_of(a, 8000)}, {run_of(b, 3000)});
    return pace;
  };
  const PaceChange few = none(kSlow, {{"add", 6, 10}, {"addmm", 4, 20}, {"only in B", 1, 9}});
  EXPECT_EQ(few.why_none, NoPace::kFewNames);
  EXPECT_EQ(few.names, 2U);
  std::vector<Named> long_a = kSlow;
  std::vector<Named> long_b = kFast;
  long_a.back().typical_ns = 2000;
  long_b.back().typical_ns = 9000;
  const PaceChange little = none(long_a, long_b);
  EXPECT_EQ(little.why_none, NoPace::kLittle);
  EXPECT_NEAR(little.share, 322.8 / 9322.8, 1e-9);
  std::vector<Named> apart = kFast;
  apart[0].typical_ns = 40;
  EXPECT_EQ(none(kSlow, apart).why_none, NoPace::kApart);
  EXPECT_EQ(compare_pace({run_of(kSlow, 8000)}, {run_of(kFast, 3000)}).why_none, NoPace::kNone);
}

TEST(DiffPace, RunsOfASideCountByTheirCalls) {
  std::vector<Named> faster = kFast;
  for (Named& one : faster) one.typical_ns /= 2;
  const PaceChange pace =
      compare_pace({run_of(kSlow, 8000)}, {run_of(kFast, 3000), run_of(faster, 1000)});
  EXPECT_DOUBLE_EQ(pace.ratio, 0.375);
}

TEST(DiffPace, NotTold) {
  const DiffRun slow = run_of(kSlow, 8000);
  // Another number of calls is other work.
  std::vector<Named> more = kFast;
  for (Named& one : more) ++one.calls;
  EXPECT_FALSE(compare_pace({slow}, {run_of(more, 3000)}).told);
  // Some of the host's work has changed, and the rest has not: no pace.
  std::vector<Named> uneven = kSlow;
  uneven[0].typical_ns = 5;
  uneven[1].typical_ns = 10;
  EXPECT_FALSE(compare_pace({slow}, {run_of(uneven, 3000)}).differs());
  // One name alone, however much of the time it takes: launches that wait less.
  std::vector<Named> launches = kSlow;
  launches[4].typical_ns = 9000;
  EXPECT_FALSE(compare_pace({run_of(launches, 8000)}, {slow}).differs());
  // Too little of the host's work is the same.
  std::vector<Named> other = kFast;
  other.back().calls = 5000;
  std::vector<Named> from = kSlow;
  from.back().calls = 5000;
  EXPECT_FALSE(compare_pace({run_of(from, 8000)}, {run_of(other, 3000)}).told);
  // Alike.
  EXPECT_FALSE(compare_pace({slow}, {slow}).differs());
  EXPECT_FALSE(compare_pace({}, {}).told);
  EXPECT_FALSE(compare_pace({slow}, {DiffRun{}}).told);
}

TEST(DiffPace, ExchangedSidesGiveTheInverse) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SplitMix64 random(seed);
    std::vector<Named> a;
    std::vector<Named> b;
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
      const auto calls = static_cast<uint64_t>(1 + random.below(9));
      a.push_back({name, calls, static_cast<double>(10 + random.below(4))});
      b.push_back({name, calls, static_cast<double>(20 + random.below(4))});
    }
    const DiffRun from = run_of(a, 100 + random.below(9000));
    const DiffRun to = run_of(b, 100 + random.below(9000));
    const PaceChange there = compare_pace({from}, {to});
    const PaceChange back = compare_pace({to}, {from});
    EXPECT_EQ(there.differs(), back.differs()) << seed;
    EXPECT_NEAR(there.ratio * back.ratio, 1, 1e-12) << seed;
    EXPECT_NEAR(there.low * back.high, 1, 1e-12) << seed;
    EXPECT_NEAR(there.high * back.low, 1, 1e-12) << seed;
    EXPECT_EQ(there.change_ns, -back.change_ns) << seed;
    EXPECT_EQ(there.from_ns, -back.to_ns) << seed;
    EXPECT_LE(there.from_ns, there.change_ns) << seed;
    EXPECT_LE(there.change_ns, there.to_ns) << seed;
  }
}

}  // namespace
}  // namespace assay
