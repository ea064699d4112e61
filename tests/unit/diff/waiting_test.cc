#include "diff/waiting.h"

#include <gtest/gtest.h>

#include <utility>

namespace assay {
namespace {

// One iteration of 1,000 ns on one GPU: 600 of a kernel, 400 of a collective that is exposed for
// 300 and begins at 600.
DiffRun run_of(int64_t rank) {
  DiffRun run;
  run.rank = rank;
  run.samples = {{.iteration = 0, .gpu = 3, .time_ns = 1000}};
  for (DiffLevelRun& level : run.levels) {
    level.items = {{.name = "compute"}, {.name = "comm"}};
    level.samples = {{{0, {.calls = 1, .busy_ns = 700}}, {1, {.calls = 1, .busy_ns = 300}}}};
  }
  run.collectives = {{.sample = 0, .gpu = 3, .start_ns = 600, .end_ns = 1000, .busy_ns = 300}};
  run.collectives[0].item = {1, 1, 1, 1};
  return run;
}

TEST(DiffWaiting, MovesWhatIsWaitedAndKeepsTheSum) {
  DiffRun run = run_of(0);
  take_waiting_apart(run, {{3, {{500, 650}, {700, 750}, {2000, 3000}}}});
  EXPECT_EQ(run.waiting_ns, 100);  // 50 until 650, 50 until 750
  for (const DiffLevelRun& level : run.levels) {
    ASSERT_EQ(level.samples[0].size(), 3U);
    EXPECT_EQ(level.samples[0][0].cost.busy_ns, 700);
    EXPECT_EQ(level.samples[0][1].cost.busy_ns, 200);
    EXPECT_EQ(level.items[level.samples[0][2].item].name, kWaitingForRanks);
    EXPECT_EQ(level.samples[0][2].cost.busy_ns, 100);
  }
}

TEST(DiffWaiting, NoMoreThanIsExposed) {
  DiffRun run = run_of(0);
  take_waiting_apart(run, {{3, {{0, 5000}}}});
  EXPECT_EQ(run.waiting_ns, 300);
  run = run_of(0);
  take_waiting_apart(run, {{4, {{0, 5000}}}});  // another GPU's
  EXPECT_EQ(run.waiting_ns, 0);
}

// Ranks whose time is as given, of which they waited as given.
std::vector<DiffRun> job(const std::vector<std::pair<int64_t, int64_t>>& times_and_waits) {
  std::vector<DiffRun> runs;
  for (const auto& [time_ns, waiting_ns] : times_and_waits) {
    DiffRun& run = runs.emplace_back(run_of(static_cast<int64_t>(runs.size())));
    run.samples[0].time_ns = time_ns;
    run.waiting_ns = waiting_ns;
    run.collectives[0].busy_ns = waiting_ns;  // no transfer
  }
  return runs;
}

TEST(DiffWaiting, TheRankThatOthersWaitForStandsApart) {
  const auto a = job({{1000, 10}, {1000, 0}, {1000, 10}, {1000, 20}});
  const auto b = job({{1400, 390}, {1400, 410}, {1400, 0}, {1400, 400}});
  const DiffRanks slower = compare_ranks(a, b, 400);
  EXPECT_EQ(slower.waiting_change_ns, 290);  // 1200 / 4 - 40 / 4
  EXPECT_EQ(slower.apart, (std::vector<int64_t>{2}));
  EXPECT_EQ(slower.apart_ns, 410);  // 990 -> 1400
  EXPECT_EQ(slower.ranks[0].change_ns(), 20);
  const DiffRanks faster = compare_ranks(b, a, -400);
  EXPECT_EQ(faster.apart, (std::vector<int64_t>{2}));
  EXPECT_EQ(faster.apart_ns, -410);
}

TEST(DiffWaiting, RanksWithoutKnownWaitsOrAPartnerAreLeftOutOfTheMean) {
  auto a = job({{1000, 10}, {1000, 0}, {1000, 10}, {1000, 20}, {1000, 800}});
  const auto b = job({{1400, 390}, {1400, 410}, {1400, 0}, {1400, 400}});
  EXPECT_EQ(compare_ranks(a, b, 400).waiting_change_ns, 290);
  a[2].waiting_ns = -1;
  EXPECT_EQ(compare_ranks(a, b, 400).waiting_change_ns, 390);  // 1200 / 3 - 30 / 3
}

// Transfers that take longer are no rank's own time.
TEST(DiffWaiting, ASlowLinkMakesNoRankSlow) {
  const auto a = job({{1000, 10}, {1000, 0}, {1000, 10}, {1000, 20}});
  auto b = job({{1400, 390}, {1400, 0}, {1400, 390}, {1400, 400}});
  b[1].collectives[0].busy_ns = 400;  // transfer alone
  EXPECT_TRUE(compare_ranks(a, b, 400).apart.empty());
}

TEST(DiffWaiting, NoRankStandsApart) {
  // All ranks slower alike; waiting in turn; most of them slower.
  const auto even = job({{1000, 0}, {1000, 0}, {1000, 0}, {1000, 0}});
  EXPECT_TRUE(
      compare_ranks(even, job({{1400, 0}, {1400, 0}, {1400, 0}, {1400, 0}}), 400).apart.empty());
  EXPECT_TRUE(compare_ranks(even, job({{1400, 300}, {1400, 300}, {1400, 300}, {1400, 300}}), 400)
                  .apart.empty());
  EXPECT_TRUE(
      compare_ranks(even, job({{1400, 400}, {1400, 0}, {1400, 0}, {1400, 0}}), 400).apart.empty());
}

TEST(DiffWaiting, NothingIsSaidOfRanksThatOnlyOneSideHas) {
  const auto a = job({{1000, 10}, {1000, 0}});
  auto b = job({{1400, 390}, {1400, 0}});
  b[1].rank = 7;
  EXPECT_TRUE(compare_ranks(a, b, 400).ranks.empty());
}

}  // namespace
}  // namespace assay
