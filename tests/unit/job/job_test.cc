#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "job/findings.h"
#include "job/packed_times.h"
#include "job/tests.h"
#include "job/usual.h"
#include "job/worst_first.h"
#include "support/job_model.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using testing::FleetFault;
using testing::FleetModel;
using ::testing::IsEmpty;

FleetJob job_of(const std::vector<std::string>& records) {
  std::string all;
  for (const std::string& record : records) all += record;
  auto job = assemble_fleet({{"model.ranks", all}});
  EXPECT_TRUE(job) << job.error().describe();
  return *std::move(job);
}

FleetJob job_of(const FleetModel& model) {
  std::vector<std::string> records;
  for (int64_t r = 0; r < model.ranks(); ++r) {
    if (!model.is_absent(r)) records.push_back(model.record(r));
  }
  return job_of(records);
}

struct Found {
  FleetJob job;
  FleetFindings findings;
  std::vector<std::string> names;  // sorted
};

std::string name_of(const FleetJob& job, const FleetFinding& one) {
  switch (one.kind) {
    case FindingKind::kRank:
      return "rank " + std::to_string(job.ranks[one.ranks.front()].number);
    case FindingKind::kPauses:
      return "pauses " + std::to_string(job.ranks[one.ranks.front()].number);
    case FindingKind::kSet:
      return one.set_kind + " " + one.set_name;
    case FindingKind::kLinks:
      return "links " + one.set_kind + " " + one.set_name;
  }
  return "";
}

Found find_in(const FleetModel& model) {
  Found found{job_of(model), {}, {}};
  const auto sets = fleet_sets(found.job, model.hosts(), "hosts");
  EXPECT_TRUE(sets);
  found.findings = find_in_fleet(found.job, *sets, {});
  for (const FleetFinding& one : found.findings.worst)
    found.names.push_back(name_of(found.job, one));
  std::sort(found.names.begin(), found.names.end());
  return found;
}

const FleetFinding& named(const Found& found, const std::string& name) {
  for (const FleetFinding& one : found.findings.worst) {
    if (name_of(found.job, one) == name) return one;
  }
  ADD_FAILURE() << name << " is not named";
  std::abort();
}

// ---- the worked example: groups {0,1} {2,3}, then {0,2} {1,3}; work 100, 100, 50; transfers 10,
// 10, 20; one iteration ----

struct FourRanks {
  // extra: work beyond usual of each rank before its second meeting.
  static std::vector<std::string> records(const std::vector<int64_t>& extra) {
    const int64_t work[3] = {100, 100, 50};
    const int64_t transfer[3] = {10, 10, 20};
    const auto group_of = [](size_t step, size_t rank) {
      return step < 2 ? rank / 2 : 2 + rank % 2;
    };
    std::vector<int64_t> now(4, 0);
    std::vector<RankRecord> made(4);
    for (size_t r = 0; r < 4; ++r) {
      made[r].stamp.path = std::to_string(r);
      made[r].rank = static_cast<int64_t>(r);
      made[r].world_size = 4;
      made[r].iterations = {{.number = 1}};
      for (const size_t step : {size_t{0}, size_t{2}}) {
        made[r].groups.push_back({std::to_string(group_of(step, r)), "", "all_reduce", 2, true});
      }
      // The first part of all, so that own work before the first meeting is known.
      made[r].groups.push_back({"world", "", "barrier", 4, true});
      made[r].arrivals.push_back({1, 2, -1, 1000, 1001, -1});
    }
    for (size_t step = 0; step < 3; ++step) {
      std::map<size_t, int64_t> last;
      std::vector<int64_t> arrival(4);
      for (size_t r = 0; r < 4; ++r) {
        arrival[r] = now[r] + work[step] + (step == 1 ? extra[r] : 0);
        last[group_of(step, r)] = std::max(last[group_of(step, r)], arrival[r]);
      }
      for (size_t r = 0; r < 4; ++r) {
        const int64_t end_ns = last[group_of(step, r)] + transfer[step];
        made[r].arrivals.push_back(
            {1, step < 2 ? 0u : 1u, -1, 1001 + arrival[r], 1001 + end_ns, arrival[r] - now[r]});
        now[r] = end_ns;
      }
    }
    std::vector<std::string> bytes;
    for (const RankRecord& one : made) bytes.push_back(record_bytes(one));
    return bytes;
  }
};

struct Example {
  int64_t span_ns = 0;
  std::vector<int64_t> alone;                            // per rank
  std::vector<std::pair<int64_t, int64_t>> worst_first;  // rank, saved
};

Example example(const std::vector<int64_t>& extra) {
  FleetJob job = job_of(FourRanks::records(extra));
  set_first_starts(align_fleet(job), job);
  const FleetUsual usual = find_usual(job, 4);
  FleetFindings found;
  EXPECT_EQ(replay_residual(job, usual.excess, found.span_ns), 0);
  Example told{found.span_ns, {}, {}};
  for (uint32_t r = 0; r < 4; ++r) {
    FleetFindings one = found;
    one.worst = {{.ranks = {r}}};
    put_worst_first(job, usual.excess, one);
    told.alone.push_back(one.worst.front().saved_alone_ns);
  }
  for (uint32_t r = 0; r < 4; ++r) {
    const int64_t above_ns = usual.above_ns[r];
    if (above_ns > 0) found.worst.push_back({.ranks = {r}, .excess = {.rest_ns = above_ns}});
  }
  put_worst_first(job, usual.excess, found);
  for (const FleetFinding& one : found.worst) {
    told.worst_first.emplace_back(one.ranks.front(), one.saved_ns);
  }
  return told;
}

TEST(FleetWhatIf, TheWorkedExamples) {
  const auto pair = [](int64_t rank, int64_t saved) { return std::pair(rank, saved); };
  const Example one = example({0, 30, 0, 0});
  EXPECT_EQ(one.span_ns, 321);  // and 1 ns of the first part
  EXPECT_THAT(one.alone, ElementsAre(0, 30, 0, 0));
  EXPECT_THAT(one.worst_first, ElementsAre(pair(1, 30)));
  const Example two = example({0, 30, 0, 20});
  EXPECT_EQ(two.span_ns, 321);
  EXPECT_THAT(two.alone, ElementsAre(0, 10, 0, 0));
  EXPECT_THAT(two.worst_first, ElementsAre(pair(1, 10), pair(3, 10)));  // usual is 110
  const Example equal = example({0, 30, 0, 30});
  EXPECT_THAT(equal.alone, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(equal.worst_first, ElementsAre(pair(1, 0), pair(3, 15)));  // usual is 115
}

TEST(FleetWhatIf, OfEqualSavingsTheLargerExcessComesFirst) {
  FleetJob job = job_of(FourRanks::records({0, 30, 0, 30}));
  set_first_starts(align_fleet(job), job);
  const FleetUsual usual = find_usual(job, 4);
  // Ranks 1 and 3 hide each other: each alone saves nothing.
  const FleetFinding light{.ranks = {1}, .excess = {.rest_ns = 10}};
  const FleetFinding heavy{.ranks = {3}, .excess = {.rest_ns = 20}};
  for (const auto& told : {std::vector{light, heavy}, std::vector{heavy, light}}) {
    FleetFindings found;
    found.worst = told;
    put_worst_first(job, usual.excess, found);
    EXPECT_EQ(found.worst.front().ranks.front(), 3u);
  }
}

TEST(FleetTests, BenjaminiHochbergNamesTheFirstFour) {
  const std::vector<double> q = adjusted_p({0.001, 0.012, 0.02, 0.039, 0.6});
  for (size_t k = 0; k < 4; ++k) EXPECT_LE(q[k], 0.05);
  EXPECT_GT(q[4], 0.05);
}

// ---- matching ----

// A record of one group of `size` with a part per number, a millisecond apart.
std::string numbered_record(int64_t rank, const std::vector<int64_t>& numbers, int64_t shift_ns,
                            int32_t iteration) {
  RankRecord made;
  made.stamp.path = std::to_string(rank);
  made.rank = rank;
  made.world_size = 2;
  if (iteration >= 0) made.iterations = {{.number = iteration}};
  made.groups = {{"0", "", "all_reduce", 2, true}};
  int64_t last_ns = -1;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const int64_t start_ns = shift_ns + static_cast<int64_t>(k) * 1'000'000;
    made.arrivals.push_back({iteration, 0, numbers[k], start_ns, start_ns + 100'000,
                             last_ns < 0 ? -1 : start_ns - last_ns});
    last_ns = start_ns + 100'000;
  }
  return record_bytes(made);
}

std::vector<int64_t> numbers_from(int64_t first) {
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < 10; ++k) numbers.push_back(first + k);
  return numbers;
}

TEST(FleetMatching, NumbersThatAreShiftedLeaveNineMatchedAndTwoNot) {
  FleetJob job = job_of({numbered_record(0, numbers_from(1), 0, 3),
                         numbered_record(1, numbers_from(2), 1'000'000, 3)});
  EXPECT_EQ(job.counts.matched, 9u);
  EXPECT_EQ(job.counts.unmatched, 2u);
  const FleetClocks clocks = align_fleet(job);
  EXPECT_EQ(clocks.offsets_ns[0], clocks.offsets_ns[1]);
}

TEST(FleetMatching, OfSeveralRecordsOfOneTraceTheNewestCounts) {
  const auto record = [](int64_t mtime_ns, int64_t first) {
    RankRecord made;
    made.stamp.path = "0";
    made.stamp.mtime_ns = mtime_ns;
    made.rank = 0;
    made.world_size = 2;
    made.iterations = {{.number = 3}};
    made.groups = {{"0", "", "all_reduce", 2, true}};
    for (int64_t k = 0; k < 10; ++k) {
      made.arrivals.push_back({3, 0, first + k, k * 1'000'000, k * 1'000'000 + 100'000, -1});
    }
    return record_bytes(made);
  };
  const std::string other = numbered_record(1, numbers_from(1), 0, 3);
  const std::string old = record(1, 100);  // numbers that rank 1 does not have
  const std::string newest = record(2, 1);
  for (const auto& records : {std::vector{old, newest, other}, std::vector{newest, other, old}}) {
    const FleetJob job = job_of(records);
    EXPECT_EQ(job.ranks.size(), 2u);
    EXPECT_EQ(job.counts.matched, 10u);
  }
}

TEST(FleetMatching, WithoutNumbersThePlaceInAnIterationDecides) {
  const std::vector<int64_t> none(10, -1);
  EXPECT_EQ(job_of({numbered_record(0, none, 0, 3), numbered_record(1, none, 0, 3)}).counts.matched,
            10u);
  // Not the place in a whole trace, nor in iterations that hold different numbers of them.
  EXPECT_EQ(
      job_of({numbered_record(0, none, 0, -1), numbered_record(1, none, 0, -1)}).counts.unmatched,
      20u);
  const std::vector<int64_t> nine(9, -1);
  const FleetJob job = job_of({numbered_record(0, none, 0, 3), numbered_record(1, nine, 0, 3)});
  EXPECT_EQ(job.counts.matched, 0u);
  EXPECT_EQ(job.counts.unmatched, 19u);
}

TEST(FleetMatching, MoreRanksThanAGroupHasMembersAreNotCompared) {
  const std::vector<int64_t> none(10, -1);
  std::vector<std::string> records;
  for (int64_t r = 0; r < 4; ++r) records.push_back(numbered_record(r, none, 0, 3));
  const FleetJob job = job_of(records);  // a group "0" of two on four ranks
  EXPECT_EQ(job.counts.ambiguous_groups, 1u);
  EXPECT_EQ(job.counts.matched, 0u);
}

// Four ranks that tell no process group. joined: all meet each other; else 0 with 1 and 2 with 3.
std::vector<std::string> untold_records(bool joined) {
  SplitMix64 random(5);
  std::vector<RankRecord> made(4);
  std::vector<int64_t> now(4, 0);
  for (size_t r = 0; r < 4; ++r) {
    made[r].stamp.path = std::to_string(r);
    made[r].rank = static_cast<int64_t>(r);
    made[r].world_size = 4;
    made[r].iterations = {{.number = 1}};
    made[r].groups = {{"", "", "all_reduce", -1, true}};
  }
  for (int k = 0; k < 10; ++k) {
    std::vector<int64_t> start(4);
    for (size_t r = 0; r < 4; ++r) start[r] = now[r] + 1'000'000 + random.below(300'000);
    for (size_t r = 0; r < 4; ++r) {
      const size_t first = joined ? 0 : r / 2 * 2;
      const int64_t last_ns =
          *std::max_element(start.begin() + static_cast<std::ptrdiff_t>(first),
                            start.begin() + static_cast<std::ptrdiff_t>(joined ? 4 : first + 2));
      const int64_t end_ns = last_ns + 50'000 + random.below(2'000);
      made[r].arrivals.push_back({1, 0, -1, start[r], end_ns, k == 0 ? -1 : start[r] - now[r]});
      now[r] = end_ns;
    }
  }
  std::vector<std::string> bytes;
  for (const RankRecord& one : made) bytes.push_back(record_bytes(one));
  return bytes;
}

TEST(FleetMatching, RanksWithoutGroupsAreOneIfTheyLeaveTogether) {
  const FleetJob together = job_of(untold_records(true));
  EXPECT_EQ(together.counts.matched, 10u);
  EXPECT_EQ(together.counts.untold_groups, 0u);
  const FleetJob apart = job_of(untold_records(false));
  EXPECT_EQ(apart.counts.matched, 0u);
  EXPECT_EQ(apart.counts.unmatched, 40u);
  EXPECT_EQ(apart.counts.untold_groups, 1u);
}

// Two groups of two meetings each that two ranks enter the other way round.
TEST(FleetMatching, OrdersThatContradictAreTakenApartAndCounted) {
  const auto record = [](int64_t rank, bool turned) {
    RankRecord made;
    made.stamp.path = std::to_string(rank);
    made.rank = rank;
    made.world_size = 2;
    made.iterations = {{.number = 1}};
    made.groups = {{"a", "", "all_reduce", 2, true}, {"b", "", "all_reduce", 2, true}};
    made.arrivals = {{1, turned ? 1u : 0u, -1, 100, 200, -1},
                     {1, turned ? 0u : 1u, -1, 300, 400, 100}};
    return record_bytes(made);
  };
  const FleetJob job = job_of({record(0, false), record(1, true)});
  EXPECT_EQ(job.counts.contradicting, 1u);
  EXPECT_EQ(job.counts.matched, 1u);
  EXPECT_EQ(job.visits.size(), 4u);
  for (size_t m = 0; m < job.meetings.size(); ++m) {
    for (uint32_t v = 0; v < job.meetings[m].visits; ++v) {
      const uint32_t prev = job.visits.prev[job.meetings[m].first_visit + v];
      EXPECT_TRUE(prev == kNoMeeting || prev < m);
    }
  }
}

// ---- clocks ----

TEST(FleetClocksTest, NineMeetingsInsideAndOneBetweenPairsGiveTheExactOffsets) {
  const int64_t offsets[4] = {0, 10, 1000, 1020};
  std::vector<std::string> records;
  for (int64_t r = 0; r < 4; ++r) {
    RankRecord made;
    made.stamp.path = std::to_string(r);
    made.rank = r;
    made.world_size = 4;
    made.iterations = {{.number = 1}};
    made.groups = {{"in" + std::to_string(r / 2), "", "all_reduce", 2, true},
                   {"over" + std::to_string(r % 2), "", "all_reduce", 2, true}};
    for (int64_t k = 1; k <= 10; ++k) {
      const int64_t end_ns = k * 5000 + offsets[r];
      made.arrivals.push_back({1, k == 10 ? 1u : 0u, -1, end_ns - 100, end_ns, k == 1 ? -1 : 4900});
    }
    records.push_back(record_bytes(made));
  }
  const FleetClocks clocks = align_fleet(job_of(records));
  EXPECT_EQ(clocks.component_count, 1u);
  for (size_t r = 0; r < 4; ++r) EXPECT_EQ(clocks.offsets_ns[r] - clocks.offsets_ns[0], offsets[r]);
  EXPECT_EQ(clocks.residual_max_ns, 0);
}

// 16 ranks, 4 a node, nine collectives in the node to two across, clocks 2 ms apart.
TEST(FleetClocksTest, NodesAreBroughtTogetherByTheFewMeetingsBetweenThem) {
  for (const uint64_t seed : {7u, 8u, 9u}) {
    const FleetModel model(16, seed, {{FleetFault::kSlowGpu, 5, 1.05}}, 4, 2, 4, 8, 2);
    const FleetJob job = job_of(model);
    const FleetClocks clocks = align_fleet(job);
    EXPECT_EQ(clocks.component_count, 1u);
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    for (size_t r = 0; r < 16; ++r) {
      const int64_t error = clocks.offsets_ns[r] - model.clock_offset_ns(static_cast<int64_t>(r));
      least = std::min(least, error);
      most = std::max(most, error);
    }
    EXPECT_LE(most - least, 10'000);  // each within 5 us of the middle
  }
}

// ---- findings ----

std::vector<FleetFault> all_faults() {
  return {{FleetFault::kSlowGpu, 77, 1.08},
          {FleetFault::kSlowNode, 20, 1.05},
          {FleetFault::kSlowPodLinks, 3, 1.5},
          {FleetFault::kPauses, 500, 0.03, 5},
          {FleetFault::kFastClock, 300, 200}};
}

TEST(FleetFindingsTest, EveryFaultIsNamedAndNothingElse) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const FleetModel model(1024, seed, all_faults());
    const Found found = find_in(model);
    EXPECT_THAT(found.names, ElementsAre("links pod p3", "node n20", "pauses 500", "rank 77"))
        << "seed " << seed;
    ASSERT_TRUE(found.findings.replayed);
    EXPECT_LT(found.findings.residual, 0.001);
    EXPECT_EQ(named(found, "pauses 500").hits, 4u);
    EXPECT_EQ(named(found, "pauses 500").every, 5u);
    EXPECT_THAT(found.findings.clocks.fast, ElementsAre(300));
    const auto near = [&](int64_t told_ns, int64_t true_ns) {
      EXPECT_NEAR(static_cast<double>(told_ns), static_cast<double>(true_ns),
                  std::max(0.03 * static_cast<double>(true_ns), 3e5));
    };
    near(named(found, "pauses 500").saved_alone_ns,
         model.saved_ns([](int64_t r) { return r == 500; }));
    near(named(found, "rank 77").saved_alone_ns, model.saved_ns([](int64_t r) { return r == 77; }));
    near(named(found, "node n20").saved_alone_ns,
         model.saved_ns([&](int64_t r) { return model.node_of(r) == 20; }));
    int64_t rows_ns = 0;
    for (const FleetFinding& one : found.findings.worst) rows_ns += one.saved_ns;
    EXPECT_EQ(rows_ns, found.findings.saved_by_worst_ns);
    // What a slow GPU is slow by is its kernels.
    const ExcessSplit& split = named(found, "rank 77").excess;
    EXPECT_GT(split.kernel_ns, split.total_ns() * 9 / 10);
  }
}

TEST(FleetFindingsTest, ARankThatIsHeldUpInEveryIterationIsNamed) {
  const FleetModel model(64, 3, {{FleetFault::kBursts, 11, 0.02}}, 8, 4);
  const Found found = find_in(model);
  EXPECT_THAT(found.names, ElementsAre("pauses 11"));
  const FleetFinding& one = named(found, "pauses 11");
  EXPECT_EQ(one.hits, 0u);
  // 20 ms on top of eight times 2, twice 4 and once 6 ms.
  EXPECT_NEAR(one.score, 20.0 / 30, 0.05);
}

TEST(FleetFindingsTest, OneFaultThatHidesAnotherIsRankedAndBothAreNamed) {
  // Both in one group that meets often: the slower one hides the other.
  const FleetModel model(256, 4,
                         {{FleetFault::kSlowGpu, 9, 1.10}, {FleetFault::kSlowGpu, 12, 1.09}});
  const Found found = find_in(model);
  EXPECT_THAT(found.names, ElementsAre("rank 12", "rank 9"));
  const FleetFinding& first = found.findings.worst.front();
  EXPECT_EQ(name_of(found.job, first), "rank 9");
  EXPECT_GE(found.findings.worst[1].saved_ns, 4 * found.findings.worst[1].saved_alone_ns);
}

// Half of the ranks: what is usual is in part theirs, and none stands out by itself.
TEST(FleetFindingsTest, ASlowNodeOfTwoIsNamedAndTheOtherIsNot) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Found found = find_in(FleetModel(16, seed, {{FleetFault::kSlowNode, 1, 1.12}}, 8, 2));
    EXPECT_THAT(found.names, ElementsAre("node n1")) << "seed " << seed;
    if (found.findings.worst.empty()) continue;
    EXPECT_TRUE(found.findings.worst.front().at_least);
    EXPECT_NEAR(found.findings.worst.front().score, 0.12, 0.01);
  }
}

TEST(FleetFindingsTest, HealthyJobsOfTwoNodesHaveNoNames) {
  int with_names = 0;
  for (uint64_t seed = 200; seed < 260; ++seed) {
    with_names += find_in(FleetModel(16, seed, {}, 8, 2)).names.empty() ? 0 : 1;
  }
  EXPECT_LE(with_names, 3);
}

TEST(FleetFindingsTest, AbsentRanksAreCountedAndNoPresentOneIsBlamedForThem) {
  const FleetModel model(1024, 5,
                         {{FleetFault::kAbsent, 1, 0.05}, {FleetFault::kSlowGpu, 77, 1.08}});
  uint64_t absent = 0;
  for (int64_t r = 0; r < 1024; ++r) absent += model.is_absent(r) ? 1 : 0;
  ASSERT_FALSE(model.is_absent(77));
  const Found found = find_in(model);
  EXPECT_EQ(found.job.absent_count, absent);
  EXPECT_THAT(found.names, ElementsAre("rank 77"));
  EXPECT_GE(found.findings.saved_by_absent_ns, 0);
}

TEST(FleetFindingsTest, HealthyJobsHaveNoNames) {
  int with_names = 0;
  for (uint64_t seed = 100; seed < 120; ++seed) {
    with_names += find_in(FleetModel(256, seed, {})).names.empty() ? 0 : 1;
  }
  EXPECT_LE(with_names, 1);
}

TEST(FleetFindingsTest, FewerThanEightPeersAreNotTested) {
  const Found found = find_in(FleetModel(4, 1, {{FleetFault::kSlowGpu, 1, 1.5}}, 2, 1));
  EXPECT_THAT(found.names, IsEmpty());
  EXPECT_EQ(found.findings.few_peers, 4u);
}

TEST(FleetFindingsTest, TheOrderAndTheSplitOfRecordsChangeNothing) {
  const FleetModel model(64, 6, {{FleetFault::kSlowGpu, 7, 1.08}}, 8, 4);
  const auto told = [&](const FleetJob& assembled) {
    FleetJob job = assembled;
    const FleetFindings found = find_in_fleet(job, *fleet_sets(job, model.hosts(), "hosts"), {});
    std::vector<int64_t> numbers = {found.span_ns, found.saved_by_worst_ns, found.saved_by_rest_ns,
                                    found.clocks.residual_p95_ns};
    for (const FleetFinding& one : found.worst) numbers.push_back(one.saved_ns + one.ranks.front());
    numbers.insert(numbers.end(), found.cells_ns.begin(), found.cells_ns.end());
    numbers.insert(numbers.end(), found.clocks.offsets_ns.begin(), found.clocks.offsets_ns.end());
    return numbers;
  };
  std::vector<std::string> records;
  for (int64_t r = 0; r < 64; ++r) records.push_back(model.record(r));
  const std::vector<int64_t> whole = told(job_of(records));
  std::mt19937_64 generator(1);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(records.begin(), records.end(), generator);
    std::vector<RecordFileBytes> files;
    for (size_t k = 0; k < records.size();) {
      std::string bytes;
      for (uint64_t n = 1 + generator() % 20; n > 0 && k < records.size(); --n)
        bytes += records[k++];
      files.push_back({std::to_string(files.size()), bytes});
    }
    EXPECT_EQ(told(*assemble_fleet(files)), whole);
  }
}

// ---- records that cannot be used ----

TEST(FleetJobTest, WhatCannotBeUsedIsNamedWithItsReason) {
  const FleetModel model(8, 1, {}, 4, 1);
  std::vector<std::string> records;
  for (int64_t r = 0; r < 7; ++r) records.push_back(model.record(r));
  records[2] = records[2].substr(0, records[2].size() / 2);
  RankRecord other;
  other.stamp.path = "other.json";
  other.rank = 1;
  other.world_size = 64;
  records.push_back(record_bytes(other));
  RankRecord twin;
  twin.stamp.path = "twin.json";
  twin.rank = 3;
  twin.world_size = 8;
  records.push_back(record_bytes(twin));
  records.push_back(records[0]);  // the same record again
  const FleetJob job = job_of(records);
  EXPECT_EQ(job.ranks.size(), 6u);
  EXPECT_THAT(job.absent, ElementsAre(2, 7));
  ASSERT_EQ(job.unused.size(), 3u);
  EXPECT_NE(job.unused[0].what.find("model.ranks: byte "), std::string::npos);
  EXPECT_EQ(job.unused[1].what, "other.json");
  EXPECT_EQ(job.unused[1].why, "of another job: 64 ranks, not 8");
  EXPECT_EQ(job.unused[2].what, "twin.json");
  EXPECT_EQ(job.unused[2].why, "rank 3 a second time, beside rank3.json");
}

TEST(FleetJobTest, NumbersBeyondTheToldJobLeaveOpenWhichAreMissing) {
  const FleetModel model(8, 1, {{.kind = FleetFault::kWorldTold, .which = 4}}, 4, 1);
  std::vector<std::string> records;
  for (int64_t r = 2; r < 8; ++r) records.push_back(model.record(r));
  const FleetJob job = job_of(records);
  EXPECT_EQ(job.told_world_size, 4);
  EXPECT_EQ(job.world_size, 6);
  EXPECT_EQ(job.beyond_world, 4u);
  EXPECT_EQ(job.absent_count, 0u);
}

// Ranks 8 to 11 are absent: whoever meets one of them alone comes alone.
TEST(FleetJobTest, APartThatWaitedForAnAbsentRankIsAnUpperBound) {
  FleetModel model(64, 3, {{.kind = FleetFault::kAbsentRun, .which = 8, .every = 4}}, 8, 4);
  FleetJob job = job_of(model);
  size_t alone = 0;
  for (const FleetMeeting& one : job.meetings) {
    if (one.visits > 1 || one.group == kAlone) continue;
    ++alone;
    EXPECT_FALSE(one.complete);
  }
  EXPECT_EQ(alone, job.counts.unmatched);
  EXPECT_GT(alone, 0u);
}

TEST(FleetJobTest, WhatDidNotFitIntoARecordIsCounted) {
  RankRecord made;
  made.stamp.path = "0";
  made.rank = 0;
  made.world_size = 1;
  made.groups = {{"0", "", "all_reduce", 1, true}};
  for (int32_t iteration = 0; iteration < 100; ++iteration) {
    for (int64_t k = 0; k < 1000; ++k) {
      const int64_t start_ns = (iteration * 1000 + k) * 1'000'000;
      made.arrivals.push_back({iteration, 0, -1, start_ns, start_ns + 100'000, 900'000});
    }
  }
  const FleetJob job = job_of({record_bytes(made)});
  EXPECT_GT(job.counts.cut_iterations, 0u);
  EXPECT_EQ(job.counts.cut_arrivals, job.counts.cut_iterations * 1000);
  EXPECT_EQ(job.visits.size() + job.counts.cut_arrivals, 100'000u);
}

TEST(FleetJobTest, ASecondReadingMeetsTheRecordOfEachRankOnce) {
  const FleetModel model(8, 1, {}, 4, 1);
  std::vector<std::string> records;
  for (int64_t r = 0; r < 8; ++r) records.push_back(model.record(r));
  RankRecord other;
  other.stamp.path = "other.json";
  other.world_size = 64;
  const std::string all = records[3] + record_bytes(other) + records[5] + records[3];
  const FleetJob job = job_of(records);
  UsedRecords used(job);
  std::vector<int64_t> met;
  for (const UsedRecord& one : used.take(all)) met.push_back(job.ranks[one.rank].number);
  EXPECT_THAT(met, ElementsAre(3, 5));
  EXPECT_EQ(used.left(), 6u);
  EXPECT_TRUE(used.take(all).empty());
}

TEST(FleetPackedTimes, KeepEveryNanosecond) {
  const std::vector<int64_t> told = {0,
                                     1,
                                     -1,
                                     UINT32_MAX,
                                     int64_t{UINT32_MAX} + 1,
                                     kLongestInRecord,
                                     -kLongestInRecord,
                                     PackedTimes::kLeast};
  PackedTimes times;
  for (const int64_t ns : told) times.push_back(ns);
  for (size_t k = 0; k < told.size(); ++k) EXPECT_EQ(times[k], told[k]);
  times.move_to({7, 6, 5, 4, 3, 2, 1, 0});
  for (size_t k = 0; k < told.size(); ++k) EXPECT_EQ(times[7 - k], told[k]);
}

}  // namespace
}  // namespace assay
