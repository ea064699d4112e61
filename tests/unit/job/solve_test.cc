#include "job/solve.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "job/record_graph.h"

namespace assay {
namespace {

constexpr int64_t kMicro = 1000;

// Ranks that work, launch an all-reduce of their group and go on behind it, five times an iteration.
// By each rank's own clock, which may be another.
struct MadeJob {
  int64_t ranks = 8;
  int64_t per_group = 8;
  int32_t iterations = 4;
  std::vector<double> pace = std::vector<double>(64, 1);       // of own device work, per rank
  std::vector<double> link = std::vector<double>(64, 1);       // of transfers, per group
  std::vector<int64_t> pause = std::vector<int64_t>(64, 0);    // of the host, in iteration 2
  std::vector<int64_t> clock = std::vector<int64_t>(64, 0);
  std::vector<int64_t> host = std::vector<int64_t>(64, 20 * kMicro);  // before each launch
  // Of the host, between the kernel's end and the collective. The launch before is off the critical path then.
  std::vector<int64_t> extra = std::vector<int64_t>(64, 0);
  std::string kind = "all_reduce";

  // Work varies by less than 1 %, without a random number.
  static int64_t varied(int64_t ns, int64_t k) { return ns + ns * ((k * 7919) % 13 - 6) / 1000; }

  std::vector<RankFold> folds(int64_t* span_ns = nullptr) const {
    std::vector<RankFold> made(static_cast<size_t>(ranks));
    std::vector<int64_t> now(made.size(), 0);
    for (size_t r = 0; r < made.size(); ++r) {
      RankFold& fold = made[r];
      fold.numbered = true;
      fold.names = {"gemm"};
      const auto group = std::to_string(static_cast<int64_t>(r) / per_group);
      fold.groups = {{{"tp" + group, group, kind, true}, per_group}};
      fold.points.push_back({FoldKind::kHost, 0, clock[r], 0, 0, 0, 0});
    }
    for (int32_t it = 0; it < iterations; ++it) {
      for (int64_t k = 0; k < 5; ++k) step(it, k, now, made);
    }
    if (span_ns != nullptr) *span_ns = *std::max_element(now.begin(), now.end());
    return made;
  }

  void step(int32_t it, int64_t k, std::vector<int64_t>& now, std::vector<RankFold>& made) const {
    std::vector<int64_t> came(made.size());
    for (size_t r = 0; r < made.size(); ++r) {
      const int64_t nth = static_cast<int64_t>(r) * 31 + it * 5 + k;
      const auto work = static_cast<int64_t>(static_cast<double>(varied(900 * kMicro, nth)) * pace[r]);
      const int64_t own = host[r] + (it == 2 && k == 0 ? pause[r] : 0);
      RankFold& fold = made[r];
      const int64_t start = now[r] + clock[r];
      const auto before = static_cast<uint32_t>(fold.points.size() - 1);
      add(fold, FoldKind::kHost, it, start + own, own, before, {0, own, 0});
      const bool late = extra[r] > 0;
      add(fold, FoldKind::kKernel, it, start + own + work, work, late ? before : before + 1,
          {work, 0, late ? own : 0});
      fold.shares.push_back({0, work});
      fold.points.back().kernels = 1;
      int64_t begin = start + own + work + kMicro;
      if (late) {
        add(fold, FoldKind::kHost, it, start + own + work + extra[r], extra[r], before + 2, {0, extra[r], 0});
        begin += extra[r];
      }
      add(fold, FoldKind::kBegin, it, begin, 0, static_cast<uint32_t>(fold.points.size() - 1), {0, 0, kMicro});
      came[r] = now[r] + extra[r] + own + work + kMicro;
    }
    for (size_t r = 0; r < made.size(); ++r) {
      const size_t group = r / static_cast<size_t>(per_group);
      const auto first = came.begin() + static_cast<std::ptrdiff_t>(group) * per_group;
      const int64_t last = *std::max_element(first, first + per_group);
      const int64_t nth = static_cast<int64_t>(group) * 17 + it * 5 + k;
      const auto transfer =
          static_cast<int64_t>(static_cast<double>(varied(100 * kMicro, nth)) * link[group]);
      const auto begin = static_cast<uint32_t>(made[r].points.size() - 1);
      const int64_t length = last + transfer - came[r];
      add(made[r], FoldKind::kEnd, it, came[r] + clock[r] + length, 0, begin, {0, 0, length});
      made[r].parts.push_back({begin, begin + 1, 0, it * 5 + k, 1 << 20});
      now[r] = last + transfer;
    }
  }

  static void add(RankFold& fold, FoldKind kind, int32_t it, int64_t at, int64_t work,
                  uint32_t source, FoldVector vector) {
    const auto point = static_cast<uint32_t>(fold.points.size());
    fold.points.push_back({kind, it, at, work, 0, static_cast<uint32_t>(fold.edges.size()),
                           static_cast<uint32_t>(fold.shares.size())});
    fold.edges.push_back({source, vector.device_ns > 0 ? point : kNoSegment,
                          vector.host_ns > 0 ? point : kNoSegment,
                          static_cast<uint32_t>(fold.vectors.size()), 1});
    fold.vectors.push_back(vector);
  }

  JobSolution solved() const { return solve_job(JobGraph(folds()), {}); }
  int64_t span() const {
    int64_t ns = 0;
    folds(&ns);
    return ns;
  }
};

TEST(SolveJob, NamesNoRankWhereNoneIsSlow) {
  const JobSolution solved = MadeJob{}.solved();
  EXPECT_TRUE(solved.findings.empty());
  EXPECT_EQ(solved.saved_ns, 0);
  EXPECT_EQ(solved.identity_errors, 0u);
}

TEST(SolveJob, NamesTheSlowerOneOfTwoRanks) {
  MadeJob job{.ranks = 2, .per_group = 2};
  EXPECT_TRUE(job.solved().findings.empty());
  job.pace[1] = 1.2;
  const JobSolution solved = job.solved();
  ASSERT_EQ(solved.findings.size(), 1u);
  EXPECT_EQ(solved.findings[0].ranks, std::vector<uint32_t>{1});
}

TEST(SolveJob, ComparesTheHostsOfOneStageOnly) {
  MadeJob job{.ranks = 16, .per_group = 2};
  job.kind = "send_recv";
  for (size_t r = 1; r < 16; r += 2) job.host[r] = 200 * kMicro;
  EXPECT_TRUE(job.solved().findings.empty());
  job.host[4] = 150 * kMicro;
  const JobSolution solved = job.solved();
  EXPECT_EQ(solved.peers[4], 8u);
  EXPECT_NEAR(static_cast<double>(solved.excess_ns[4]), 20 * 130e3, 200e3);
  EXPECT_LT(solved.excess_ns[1], 200'000);
}

TEST(SolveJob, CutsOnlyThePointThatOtherHostsDoNotHave) {
  MadeJob job;
  job.host.assign(64, 300 * kMicro);
  const int64_t fine = job.span();
  job.extra[5] = 290 * kMicro;
  const JobSolution solved = job.solved();
  ASSERT_EQ(solved.findings.size(), 1u);
  EXPECT_EQ(solved.findings[0].ranks, std::vector<uint32_t>{5});
  EXPECT_NEAR(static_cast<double>(solved.excess_ns[5]), 20 * 290e3, 20e3);
  EXPECT_NEAR(static_cast<double>(solved.saved_ns), static_cast<double>(job.span() - fine), 0.02 * static_cast<double>(fine));
}

TEST(SolveJob, TakesNoWaitForAMissingRankForASlowLink) {
  MadeJob job{.ranks = 32, .per_group = 4};
  job.pace[2] = 1.4;
  std::vector<RankFold> folds = job.folds();
  folds.erase(folds.begin() + 2);
  const JobSolution solved = solve_job(JobGraph(std::move(folds)), {});
  EXPECT_TRUE(solved.findings.empty());
  EXPECT_GT(solved.absent_ns, 0);
}

TEST(SolveJob, SavesARangeWhereOthersWaitForAMissingRank) {
  MadeJob job{.ranks = 32, .per_group = 4};
  const int64_t fine = job.span();
  job.pace[2] = job.pace[9] = 1.4;
  const int64_t slow = job.span();
  std::vector<RankFold> folds = job.folds();
  folds.erase(folds.begin() + 2);
  const JobSolution solved = solve_job(JobGraph(std::move(folds)), {});
  ASSERT_EQ(solved.findings.size(), 1U);
  EXPECT_EQ(solved.findings[0].ranks, std::vector<uint32_t>{8});
  EXPECT_LT(solved.least_saved_ns, (slow - fine) / 20);
  EXPECT_NEAR(static_cast<double>(solved.saved_ns), static_cast<double>(slow - fine),
              0.1 * static_cast<double>(slow - fine));
}

// One rank of a pair is absent, and the other waits for it longer than anybody for the slow rank.
TEST(SolveJob, NamesASlowRankWhereAnotherPairIsNotWhole) {
  MadeJob job{.ranks = 16, .per_group = 2};
  job.kind = "send_recv";
  job.pace[0] = 1.4;
  job.pace[5] = 1.1;
  std::vector<RankFold> folds = job.folds();
  for (size_t r = 0; r < folds.size(); ++r) {
    const std::string pair =
        "[" + std::to_string(r / 2 * 2) + ", " + std::to_string(r / 2 * 2 + 1) + "]";
    folds[r].groups[0].group.ranks = pair;
  }
  folds.erase(folds.begin());
  const JobSolution solved = solve_job(JobGraph(std::move(folds)), {});
  ASSERT_EQ(solved.findings.size(), 1u);
  EXPECT_EQ(solved.findings[0].ranks, std::vector<uint32_t>{4});
}

TEST(SolveJob, NamesASlowDeviceAndWhatItCosts) {
  MadeJob job;
  const int64_t fine = job.span();
  job.pace[3] = 1.05;
  const JobSolution solved = job.solved();
  ASSERT_EQ(solved.findings.size(), 1u);
  EXPECT_EQ(solved.findings[0].kind, StoryKind::kDevice);
  EXPECT_EQ(solved.findings[0].ranks, std::vector<uint32_t>{3});
  EXPECT_NEAR(solved.findings[0].factor, 1.05, 0.005);
  const int64_t cost = job.span() - fine;
  EXPECT_NEAR(static_cast<double>(solved.saved_ns), static_cast<double>(cost), 0.1 * static_cast<double>(cost));
  EXPECT_TRUE(solved.decided());
}

// Ranks of pairs that send to each other, as the stages of a pipeline do.
TEST(SolveJob, NamesTheSlowerHalfOfStages) {
  MadeJob job{.ranks = 16, .per_group = 2};
  job.kind = "send_recv";
  EXPECT_TRUE(job.solved().findings.empty());
  const int64_t fine = job.span();
  for (size_t r = 8; r < 16; ++r) job.pace[r] = 1.04;
  const JobSolution solved = job.solved();
  ASSERT_EQ(solved.findings.size(), 8u);
  for (const StoryFinding& one : solved.findings) EXPECT_GE(one.ranks.front(), 8u);
  const auto cost = static_cast<double>(job.span() - fine);
  EXPECT_NEAR(static_cast<double>(solved.saved_ns), cost, 0.1 * cost);
}

TEST(SolveJob, NamesNoHalfOfStagesThatOnlyDoesMoreOfOneKind) {
  MadeJob job{.ranks = 16, .per_group = 2};
  job.kind = "send_recv";
  for (size_t r = 8; r < 16; ++r) job.pace[r] = 1.1;
  std::vector<RankFold> folds = job.folds();
  for (size_t r = 0; r < folds.size(); ++r) {
    RankFold& fold = folds[r];
    fold.names = {"gemm", "head"};
    std::vector<FoldShare> shares;
    for (const FoldShare& share : fold.shares) {
      const auto gemm_ns = static_cast<int64_t>(0.6 * static_cast<double>(share.ns) / job.pace[r]);
      shares.push_back({0, gemm_ns});
      shares.push_back({1, share.ns - gemm_ns});
    }
    fold.shares = shares;
    for (FoldPoint& point : fold.points) point.first_share *= 2;
  }
  EXPECT_TRUE(solve_job(JobGraph(std::move(folds)), {}).findings.empty());
}

TEST(SolveJob, SeparatesAPauseOfAHostFromASlowOne) {
  MadeJob job;
  job.pause[5] = 3000 * kMicro;
  const JobSolution solved = job.solved();
  ASSERT_EQ(solved.findings.size(), 1u);
  EXPECT_EQ(solved.findings[0].kind, StoryKind::kHost);
  EXPECT_TRUE(solved.findings[0].pauses);
  EXPECT_EQ(solved.findings[0].iterations, std::vector<int32_t>{2});
  EXPECT_NEAR(static_cast<double>(solved.saved_ns), 3e6, 5e4);
}

TEST(SolveJob, NamesASlowLinkAndNoneOfItsRanks) {
  MadeJob job{.ranks = 32};
  job.link[2] = 1.3;
  const JobSolution solved = job.solved();
  ASSERT_EQ(solved.findings.size(), 1u);
  EXPECT_EQ(solved.findings[0].kind, StoryKind::kLink);
  EXPECT_EQ(solved.findings[0].set_name, "tp2");
  EXPECT_NEAR(solved.findings[0].factor, 1.3, 0.02);
}

TEST(SolveJob, NamesTwoCausesThatHideEachOther) {
  MadeJob job{.ranks = 32};
  job.pace[1] = 1.08;   // in the first group
  job.link[3] = 1.7;    // of the last: 70 us a step, as the device's
  const JobSolution solved = job.solved();
  ASSERT_EQ(solved.findings.size(), 2u);
  // Either alone gives little, both together what they cost.
  for (const StoryFinding& one : solved.findings) EXPECT_GT(one.saved_ns, 3 * one.saved_alone_ns / 2);
  EXPECT_GT(solved.saved_ns, 1'000'000);
}

TEST(SolveJob, ClocksChangeNothing) {
  MadeJob job;
  job.pace[3] = 1.05;
  const JobSolution plain = job.solved();
  for (size_t r = 0; r < job.clock.size(); ++r) job.clock[r] = static_cast<int64_t>(r) * 1'700'000;
  const JobSolution moved = job.solved();
  EXPECT_EQ(moved.saved_ns, plain.saved_ns);
  EXPECT_EQ(moved.span_ns, plain.span_ns);
  EXPECT_EQ(moved.identity_errors, 0u);
}

TEST(SolveJob, NoSavingIsAboveTheRun) {
  MadeJob job;
  for (size_t r = 0; r < 4; ++r) job.pause[r] = 100'000 * kMicro;
  const JobSolution solved = job.solved();
  EXPECT_LE(solved.saved_ns, solved.span_ns);
  for (const StoryFinding& one : solved.findings) {
    EXPECT_LE(one.saved_ns, solved.span_ns);
    EXPECT_LE(one.saved_alone_ns, solved.span_ns);
    EXPECT_GE(one.saved_alone_ns, 0);
  }
}

TEST(JobGraph, AnEditOfOneRankIsTheJobMadeWithIt) {
  MadeJob job;
  const JobGraph graph(job.folds());
  GraphUsual usual;
  GraphAsk ask{std::vector<uint8_t>(graph.points(), 0), std::vector<uint8_t>(graph.meetings().size(), 0)};
  for (uint32_t p = 0; p < graph.points(); ++p) {
    usual.work_ns.push_back(graph.point(p).work_ns);
    if (graph.rank_of(p) != 2 || graph.point(p).kind != FoldKind::kKernel) continue;
    usual.work_ns[p] = static_cast<int64_t>(static_cast<double>(graph.point(p).work_ns) * 1.5);
    ask.segments[p] = 1;
  }
  for (const GraphMeeting& meeting : graph.meetings()) usual.transfer_ns.push_back(meeting.transfer_ns);
  job.pace[2] = 1.5;
  EXPECT_NEAR(static_cast<double>(graph.replay(usual, ask)[0]), static_cast<double>(job.span()), 100.0);
  EXPECT_EQ(graph.replay(usual, ask)[1], graph.span_ns());
}

TEST(RecordGraph, ComesBackWithTheSameTimes) {
  const std::vector<RankFold> folds = MadeJob{}.folds();
  for (const RankFold& fold : folds) {
    const std::string bytes = graph_bytes(fold, 1 << 20);
    VarintReader from(bytes);
    const RankFold back = read_graph(from);
    ASSERT_TRUE(from.ok());
    ASSERT_EQ(back.points.size(), fold.points.size());
    for (size_t p = 0; p < fold.points.size(); ++p) {
      EXPECT_EQ(back.points[p].time_ns, fold.points[p].time_ns);
      EXPECT_EQ(back.points[p].work_ns, fold.points[p].work_ns);
    }
    EXPECT_EQ(back.vectors, fold.vectors);
    EXPECT_EQ(back.parts.size(), fold.parts.size());
    EXPECT_EQ(fold_errors(back), 0u);
  }
}

TEST(RecordGraph, KeepsWholeIterationsWhereNotAllFit) {
  const RankFold fold = MadeJob{.iterations = 20}.folds().front();
  const std::string bytes = graph_bytes(fold, 1500);
  EXPECT_LE(bytes.size(), 1500u);
  VarintReader from(bytes);
  const RankFold back = read_graph(from);
  ASSERT_TRUE(from.ok());
  ASSERT_LT(back.points.size(), fold.points.size());
  EXPECT_EQ(back.cut_points, fold.points.size() - back.points.size());
  EXPECT_NE(fold.points[back.points.size()].iteration, back.points.back().iteration);
  EXPECT_EQ(fold_errors(back), 0u);
}

TEST(RecordGraph, RefusesWhatIsNone) {
  const std::string bytes = graph_bytes(MadeJob{}.folds().front(), 1 << 20);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x55);
    VarintReader from(broken);
    const RankFold back = read_graph(from);  // never out of its bounds
    for (const FoldEdge& edge : back.edges) EXPECT_LT(edge.source, back.points.size());
    for (const FoldPart& part : back.parts) EXPECT_LT(part.end, back.points.size());
  }
  VarintReader cut(std::string_view(bytes).substr(0, bytes.size() / 2));
  EXPECT_TRUE(read_graph(cut).points.empty());
  EXPECT_FALSE(cut.ok());
}

TEST(KeepEnvelope, KeepsWhatIsLongestAtSomePace) {
  std::vector<FoldVector> vectors = {{100, 0, 0}, {0, 100, 0}, {50, 50, -10}, {10, 10, 10}};
  keep_envelope(vectors);
  // (50, 50, -10) is the longest at no pace, (10, 10, 10) neither.
  EXPECT_EQ(vectors, (std::vector<FoldVector>{{0, 100, 0}, {100, 0, 0}}));
}

}  // namespace
}  // namespace assay
