#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <random>

#include "job/findings.h"
#include "job/judge.h"
#include "job/record_graph.h"
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

std::vector<std::string> records_of(const FleetModel& model) {
  std::vector<std::string> records;
  for (int64_t r = 0; r < model.ranks(); ++r) {
    if (!model.is_absent(r)) records.push_back(model.record(r));
  }
  return records;
}

// The folds of these records, in the order of the job's ranks.
std::vector<RankFold> folds_of(const FleetJob& job, const std::vector<std::string>& records) {
  std::vector<RankFold> folds(job.ranks.size());
  UsedRecords used(job);
  for (const std::string& record : records) {
    for (const UsedRecord& one : used.take(record)) folds[one.rank] = fold_of(job, one);
  }
  return folds;
}

JobGraph graph_of(const std::vector<std::string>& records) {
  return JobGraph(folds_of(job_of(records), records));
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
    case FindingKind::kAll:
      return "all";
  }
  return "";
}

Found find_in(const std::vector<std::string>& records, const std::string& hosts) {
  Found found{job_of(records), {}, {}};
  const auto sets = fleet_sets(found.job, hosts, "hosts");
  EXPECT_TRUE(sets);
  auto findings = find_in_fleet(found.job, *sets, folds_of(found.job, records));
  EXPECT_TRUE(findings) << findings.error().describe();
  found.findings = *std::move(findings);
  for (const FleetFinding& one : found.findings.worst) {
    found.names.push_back(name_of(found.job, one));
  }
  std::sort(found.names.begin(), found.names.end());
  return found;
}

Found find_in(const FleetModel& model) { return find_in(records_of(model), model.hosts()); }

const FleetFinding& named(const Found& found, const std::string& name) {
  for (const FleetFinding& one : found.findings.worst) {
    if (name_of(found.job, one) == name) return one;
  }
  ADD_FAILURE() << name << " is not named";
  std::abort();
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
  testing::add_fold(made, shift_ns - 1000);
  made.fold.numbered = iteration >= 0;
  return record_bytes(made);
}

std::vector<int64_t> numbers_from(int64_t first) {
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < 10; ++k) numbers.push_back(first + k);
  return numbers;
}

TEST(FleetMatching, NumbersThatAreShiftedLeaveNineMatchedAndTwoNot) {
  const JobGraph graph = graph_of({numbered_record(0, numbers_from(1), 0, 3),
                                   numbered_record(1, numbers_from(2), 1'000'000, 3)});
  EXPECT_EQ(graph.matched(), 9u);
  EXPECT_EQ(graph.unmatched(), 2u);
  const FleetClocks clocks = align_fleet(graph);
  EXPECT_EQ(clocks.offsets_ns[0], clocks.offsets_ns[1]);
}

TEST(FleetMatching, TheNewestOfSeveralRecordsOfOneTraceCounts) {
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
    testing::add_fold(made, -1000);
    return record_bytes(made);
  };
  const std::string other = numbered_record(1, numbers_from(1), 0, 3);
  const std::string old = record(1, 100);  // numbers that rank 1 does not have
  const std::string newest = record(2, 1);
  for (const auto& records : {std::vector{old, newest, other}, std::vector{newest, other, old}}) {
    const JobGraph graph = graph_of(records);
    EXPECT_EQ(graph.folds().size(), 2u);
    EXPECT_EQ(graph.matched(), 10u);
  }
}

TEST(FleetMatching, ThePositionInAnIterationDecidesIfNumbersAreMissing) {
  const std::vector<int64_t> none(10, -1);
  EXPECT_EQ(graph_of({numbered_record(0, none, 0, 3), numbered_record(1, none, 0, 3)}).matched(),
            10u);
  // Not in iterations that hold different numbers of them.
  const std::vector<int64_t> nine(9, -1);
  const JobGraph graph = graph_of({numbered_record(0, none, 0, 3), numbered_record(1, nine, 0, 3)});
  EXPECT_EQ(graph.matched(), 0u);
  EXPECT_EQ(graph.unmatched(), 19u);
}

TEST(FleetMatching, MoreRanksThanAGroupHasMembersAreNotCompared) {
  const std::vector<int64_t> none(10, -1);
  std::vector<std::string> records;
  for (int64_t r = 0; r < 4; ++r) records.push_back(numbered_record(r, none, 0, 3));
  const JobGraph graph = graph_of(records);  // a group "0" of two on four ranks
  EXPECT_EQ(graph.ambiguous(), 1u);
  EXPECT_EQ(graph.matched(), 0u);
  EXPECT_EQ(graph.unmatched(), 40u);
}

// Rank 1 recorded half as much: what it has is matched, and the others wait for each other beyond.
TEST(FleetMatching, RanksThatRecordedMoreMeetWithoutTheOneThatRecordedLess) {
  std::vector<std::string> records;
  for (int64_t r = 0; r < 3; ++r) {
    RankRecord made;
    made.stamp.path = std::to_string(r);
    made.rank = r;
    made.world_size = 3;
    made.groups = {{"0", "", "all_reduce", 3, true}};
    for (int32_t it = 0; it < (r == 1 ? 2 : 4); ++it) {
      made.iterations.push_back({.number = it});
      const int64_t start_ns = it * 1'000'000;
      made.arrivals.push_back({it, 0, -1, start_ns, start_ns + 100'000, it == 0 ? -1 : 900'000});
    }
    testing::add_fold(made, -1000);
    records.push_back(record_bytes(made));
  }
  const JobGraph graph = graph_of(records);
  EXPECT_EQ(graph.matched(), 4u);
  EXPECT_EQ(graph.unmatched(), 0u);
  size_t complete = 0;
  for (const GraphMeeting& meeting : graph.meetings()) complete += meeting.complete ? 1 : 0;
  EXPECT_EQ(complete, 2u);
  EXPECT_EQ(graph.identity_errors(), 0u);
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
  for (RankRecord& one : made) {
    testing::add_fold(one, 0);
    bytes.push_back(record_bytes(one));
  }
  return bytes;
}

TEST(FleetMatching, RanksWithoutGroupsAreOneIfTheyLeaveTogether) {
  const JobGraph together = graph_of(untold_records(true));
  EXPECT_EQ(together.matched(), 10u);
  EXPECT_EQ(together.unmatched(), 0u);
  const JobGraph apart = graph_of(untold_records(false));
  EXPECT_EQ(apart.matched(), 0u);
  EXPECT_EQ(apart.unmatched(), 40u);
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
    testing::add_fold(made, 0);
    return record_bytes(made);
  };
  const JobGraph graph = graph_of({record(0, false), record(1, true)});
  EXPECT_EQ(graph.cut(), 1u);
  EXPECT_EQ(graph.matched(), 2u);
}

// ---- clocks ----

TEST(FleetClocksTest, NineCollectivesInsideAndOneBetweenPairsGiveTheExactOffsets) {
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
    testing::add_fold(made, offsets[r]);
    records.push_back(record_bytes(made));
  }
  const FleetClocks clocks = align_fleet(graph_of(records));
  EXPECT_EQ(clocks.component_count, 1u);
  for (size_t r = 0; r < 4; ++r) EXPECT_EQ(clocks.offsets_ns[r] - clocks.offsets_ns[0], offsets[r]);
  EXPECT_EQ(clocks.residual_max_ns, 0);
}

// 16 ranks, 4 a node, nine collectives in the node to two across, clocks 2 ms apart.
TEST(FleetClocksTest, NodesAreAlignedByTheFewCollectivesBetweenThem) {
  for (const uint64_t seed : {7u, 8u, 9u}) {
    const FleetModel model(16, seed, {{FleetFault::kSlowGpu, 5, 1.05}}, 4, 2, 4, 8, 2);
    const FleetClocks clocks = align_fleet(graph_of(records_of(model)));
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
    EXPECT_EQ(found.findings.solution.identity_errors, 0u);
    EXPECT_EQ(named(found, "pauses 500").hits, 4u);
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
    // What a slow GPU is slow by is its kernels.
    EXPECT_EQ(named(found, "rank 77").other_excess_ns, 0);
  }
}

TEST(FleetFindingsTest, ARankThatStallsInEveryIterationIsNamed) {
  const FleetModel model(64, 3, {{FleetFault::kBursts, 11, 0.02}}, 8, 4);
  const Found found = find_in(model);
  EXPECT_THAT(found.names, ElementsAre("rank 11"));
  const FleetFinding& one = named(found, "rank 11");
  EXPECT_EQ(one.kernel_excess_ns, 0);
  EXPECT_NEAR(static_cast<double>(one.other_excess_ns), 20 * 20e6, 20e6);
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
  EXPECT_LE(found.findings.solution.least_saved_ns, found.findings.solution.saved_ns);
}

TEST(FleetFindingsTest, HealthyJobsHaveNoNames) {
  int with_names = 0;
  for (uint64_t seed = 100; seed < 120; ++seed) {
    with_names += find_in(FleetModel(256, seed, {})).names.empty() ? 0 : 1;
  }
  EXPECT_LE(with_names, 1);
}

TEST(FleetFindingsTest, ARankThatDoesWhatNoOtherDoesIsCounted) {
  const std::vector<int64_t> none(10, -1);
  const Found found = find_in({numbered_record(0, none, 0, 3)}, "");
  EXPECT_THAT(found.names, IsEmpty());
  EXPECT_EQ(found.findings.solution.uncompared, 1u);
}

TEST(FleetFindingsTest, TheOrderAndTheSplitOfRecordsChangeNothing) {
  const FleetModel model(64, 6, {{FleetFault::kSlowGpu, 7, 1.08}}, 8, 4);
  const auto told = [&](const std::vector<std::string>& in_order) {
    const FleetFindings found = find_in(in_order, model.hosts()).findings;
    std::vector<int64_t> numbers = {found.span_ns(), found.solution.saved_ns,
                                    found.saved_by_rest_ns, found.clocks.residual_p95_ns};
    for (const FleetFinding& one : found.worst) numbers.push_back(one.saved_ns + one.ranks.front());
    numbers.insert(numbers.end(), found.cells_ns.begin(), found.cells_ns.end());
    numbers.insert(numbers.end(), found.clocks.offsets_ns.begin(), found.clocks.offsets_ns.end());
    return numbers;
  };
  std::vector<std::string> records;
  for (int64_t r = 0; r < 64; ++r) records.push_back(model.record(r));
  const std::vector<int64_t> whole = told(records);
  std::mt19937_64 generator(1);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(records.begin(), records.end(), generator);
    std::vector<std::string> files;
    for (size_t k = 0; k < records.size();) {
      std::string& bytes = files.emplace_back();
      for (uint64_t n = 1 + generator() % 20; n > 0 && k < records.size(); --n) {
        bytes += records[k++];
      }
    }
    EXPECT_EQ(told(files), whole);
  }
}

// Of each rank as many points as all ranks have room for, in whole iterations.
TEST(FleetFindingsTest, IterationsThatDoNotFitAreLeftOutOnAllRanks) {
  const std::vector<std::string> records = records_of(FleetModel(8, 1, {}, 4, 1, 4));
  const FleetJob job = job_of(records);
  std::vector<RankFold> folds = folds_of(job, records);
  const size_t of_iteration = (folds[0].points.size() - 1) / 4;
  cut_to_fit(folds[3], 8, 8 * (2 * of_iteration + 3));
  EXPECT_EQ(folds[3].points.size(), 2 * of_iteration + 1);
  EXPECT_EQ(folds[3].cut_points, 2 * of_iteration);
  EXPECT_EQ(cut_alike(folds), 1);
  for (const RankFold& fold : folds) EXPECT_EQ(fold.points.size(), 2 * of_iteration + 1);
  cut_to_fit(folds[3], 8, 8);  // not even one iteration fits
  EXPECT_EQ(folds[3].points.size(), of_iteration + 1);
}

// ---- growth ----

// Ranks that each do what few others do, in other pieces, and that all meet at the end of an
// iteration.
std::vector<RankFold> unlike_folds(int64_t ranks) {
  const FleetModel model(ranks, 1, {}, 8, ranks / 8, 6, 2, 1);
  std::vector<std::string> records;
  for (int64_t r = 0; r < ranks; ++r) records.push_back(model.record(r));
  std::vector<RankFold> folds = folds_of(job_of(records), records);
  for (size_t r = 0; r < folds.size(); ++r) {
    folds[r].names = {"gemm" + std::to_string(r % 61)};
    for (FoldPoint& point : folds[r].points) {
      if (point.kind == FoldKind::kKernel) point.kernels = 1 + r % 257;
    }
  }
  return folds;
}

double cpu_seconds(const std::function<void()>& work) {
  double least = 1e9;
  for (int round = 0; round < 2; ++round) {
    const std::clock_t before = std::clock();
    work();
    const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    least = std::min(least, took);
  }
  return least;
}

TEST(FleetGrowth, TwiceTheRanksTakeAboutTwiceAsLong) {
  const auto seconds = [](int64_t ranks) {
    const std::vector<RankFold> folds = unlike_folds(ranks);
    return cpu_seconds([&folds] {
      const JobGraph graph(folds);
      EXPECT_EQ(solve_job(graph, {}).identity_errors, 0u);
    });
  };
  // Other processes take shared caches: a ratio that is too large is measured again.
  double few = 0;
  double many = 1;
  for (int round = 0; round < 3 && many > 2.6 * few; ++round) {
    few = seconds(2048);
    many = seconds(4096);
  }
  EXPECT_LE(many, 2.6 * few) << few << " s, then " << many;
}

// ---- records that cannot be used ----

TEST(FleetJobTest, UnusableRecordsAreNamedWithTheirReason) {
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
  EXPECT_EQ(job.unused[2].why, "rank 3 a second time, in addition to rank3.json");
}

TEST(FleetJobTest, NumbersAboveTheRecordedSizeLeaveMissingRanksUnknown) {
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
  const JobGraph graph = graph_of(records_of(model));
  size_t alone = 0;
  for (const GraphMeeting& one : graph.meetings()) {
    if (one.ranks.size() > 1) continue;
    ++alone;
    EXPECT_FALSE(one.complete);
  }
  EXPECT_GT(alone, 0u);
}

TEST(FleetJobTest, EntriesThatDidNotFitIntoARecordAreCounted) {
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
  EXPECT_GT(job.counts.cut_arrivals, 0u);
  EXPECT_EQ(job.counts.cut_arrivals % 1000, 0u);  // whole iterations
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

}  // namespace
}  // namespace assay
