#include "report/flow/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "report/flow/rank_labels.h"
#include "support/job_maker.h"
#include "support/job_model.h"

namespace assay {
namespace {

using testing::JobMaker;

constexpr int64_t kMilli = 1'000'000;

// The record of a rank that works until `came`, meets the others until `met` and works for 50 ms.
RankRecord record_of(int64_t rank, int64_t came, int64_t met, bool waits) {
  RankRecord made;
  made.stamp.path = "rank" + std::to_string(rank);
  made.rank = rank;
  made.groups = {{"c", "", waits ? "all_reduce" : "p2p", -1, waits}};
  made.arrivals = {{0, 0, -1, came, met, -1}};
  testing::add_fold(made, 0);
  testing::add_point(made.fold, FoldKind::kKernel, 0, 50 * kMilli, {50 * kMilli, 0, 0});
  made.fold.points.back().kernels = 1;
  made.fold.shares.push_back({0, 50 * kMilli});
  return made;
}

// Ranks work for so many ms, meet in an all-reduce of 20 ms, and work for 50 more.
std::vector<RankFlow> flows(const std::vector<int64_t>& work_ms, bool waits = true) {
  const int64_t met = *std::max_element(work_ms.begin(), work_ms.end()) * kMilli + 20 * kMilli;
  JobMaker maker;
  for (uint32_t r = 0; r < work_ms.size(); ++r) {
    const int64_t came = work_ms[r] * kMilli;
    maker.add({r, 0, 0, came, "gemm"});
    maker.add({r, 0, came, met, "", "c", waits ? "all_reduce" : "p2p"});
    maker.add({r, 0, met, met + 50 * kMilli, "adam"});
  }
  std::vector<RankFlow> ranks;
  for (RankGraph& graph : maker.ranks()) {
    const int64_t came = work_ms[ranks.size()] * kMilli;
    graph.exposed = {{{came, met}}};
    graph.file = "rank" + std::to_string(ranks.size());
    RankFlow flow;
    flow.record = record_of(static_cast<int64_t>(ranks.size()), came, met, waits);
    flow.total.window_ns = met + 50 * kMilli;
    flow.total.compute_ns = came + 50 * kMilli;
    flow.total.collective_ns = met - came;
    flow.graph = std::move(graph);
    ranks.push_back(std::move(flow));
  }
  return ranks;
}

TEST(JobFlowWords, NameTheStragglerItsCostAndItsExcess) {
  const JobFlow flow(flows({100, 100, 100, 170}));
  // Waiting: 3 * 70 of 4 * 240; transfer 4 * 20.
  EXPECT_EQ(flow.totals.comm.wait_ns, 210 * kMilli);
  EXPECT_EQ(flow.totals.comm.transfer_ns, 80 * kMilli);
  EXPECT_EQ(flow.totals.comm.unsplit_ns, 0);
  EXPECT_EQ(job_flow_words(flow),
            (std::vector<std::string>{
                "Rank 3 is late: at its peers' pace this run takes 170 ms, not 240 ms.",
                "Its kernels take longer, most in gemm.",
                "Over 4 ranks the devices compute for 69.8 %, wait in collectives for the last "
                "rank for 21.9 %, transfer with nothing else running for 8.3 %, and are idle for "
                "0 %."}));
}

TEST(JobFlowWords, NoRankIsCalledLateIfNoDependenceIsKnown) {
  std::vector<RankFlow> ranks = flows({100, 100, 100, 170});
  for (RankFlow& rank : ranks) rank.record.reset();
  EXPECT_EQ(job_flow_words(JobFlow(std::move(ranks))).front(),
            "The dependences of these ranks are not known: which of them is late is not, either.");
}

TEST(RankLabels, ARankIsWhatItsFileStatesAndElseGoesByItsFile) {
  std::vector<RankGraph> graphs;
  for (RankFlow& flow : flows({100, 100, 100, 100})) graphs.push_back(std::move(flow.graph));
  const std::vector<std::optional<int64_t>> stated = {5, std::nullopt, 3, 2};
  for (size_t r = 0; r < graphs.size(); ++r) {
    graphs[r].rank = stated[r];
    graphs[r].file = "run/file_" + std::to_string(r) + ".json";
  }
  const RankLabels labels{Job(graphs)};
  EXPECT_EQ(labels.list({0, 1, 2, 3}), "2, 3, 5 and file_1.json");
  EXPECT_EQ(labels.number(1), std::nullopt);
  // The same rank twice names nothing.
  graphs[3].rank = 5;
  EXPECT_EQ(RankLabels{Job(graphs)}.list({0, 2, 3}), "3, file_0.json and file_3.json");
  for (RankGraph& graph : graphs) graph.rank.reset();
  EXPECT_EQ(RankLabels{Job(graphs)}.list({0, 2}), "0 and 2");
}

TEST(RanksAmong, LeaveOutTracesWithoutDeviceWorkThatStateNoRank) {
  std::vector<RankFlow> traces = flows({100, 100, 100});
  traces[0].graph.rank.reset();
  traces[0].total.window_ns = 0;
  traces[2].total.window_ns = 0;  // states its rank: its rows are missing
  EXPECT_EQ(ranks_among(traces), (std::vector<size_t>{1, 2}));
  traces[1].total.window_ns = 0;
  EXPECT_EQ(ranks_among(traces).size(), 3u);  // no trace has any
}

TEST(JobFlowWords, NoRankIsLateAmongEquals) {
  EXPECT_EQ(job_flow_words(JobFlow(flows({100, 100, 100}))).front(),
            "No rank is later than the others.");
}

TEST(BlameLevers, AreTheReplaysOfBlame) {
  const JobFlow flow(flows({100, 100, 100, 170}));
  const std::vector<AnswerLever> levers = blame_levers(flow);
  ASSERT_EQ(levers.size(), 2u);
  EXPECT_EQ(levers[0].title, "Rank 3 at its peers' pace");
  EXPECT_EQ(levers[0].gain_ns, flow.blame.late->gain_ns);
  EXPECT_EQ(levers[0].gain_ns, 70 * kMilli);
  EXPECT_DOUBLE_EQ(levers[0].share, 70.0 / 240);
  EXPECT_EQ(levers[0].grade, "up to");
  // One transfer of 20 ms, for which nobody waits any more.
  EXPECT_EQ(levers[1].key, "transfers");
  EXPECT_EQ(levers[1].gain_ns, 20 * kMilli);
  EXPECT_EQ(levers[1].code,
            "first all_reduce, 1 \u00D7 20.0 ms: overlap with kernels, start earlier, or send "
            "fewer bytes");
}

TEST(BlameLevers, TransfersThatOthersMayDelayStay) {
  std::vector<RankFlow> two = flows({100, 100});
  for (RankFlow& one : two) one.graph.world_size = 4;
  const JobFlow flow(std::move(two));
  EXPECT_EQ(flow.blame.transfer_gain_ns, 0);
  EXPECT_TRUE(blame_levers(flow).empty());
}

TEST(JobFlowWords, SayThatRanksAreMissing) {
  std::vector<RankFlow> two = flows({100, 160});
  for (RankFlow& one : two) one.graph.world_size = 4;
  const JobFlow flow(std::move(two));
  EXPECT_EQ(
      job_flow_words(flow).front(),
      "Of the 2 ranks here, of 4, rank 1 is late: at its peers' pace this run takes 170 "
      "ms, not 230 ms.");
  // Behind the last of these two others may have been waited for.
  EXPECT_EQ(flow.totals.comm.wait_ns, 60 * kMilli);
  EXPECT_EQ(flow.totals.comm.transfer_ns, 0);
  EXPECT_EQ(flow.totals.comm.unsplit_ns, 40 * kMilli);
}

TEST(JobFlowWords, TransfersThatEndTogetherShowThatClocksAgree) {
  EXPECT_EQ(job_flow_words(JobFlow(flows({100, 160}, false))).front(),
            "Rank 1 is late: at its peers' pace this run takes 170 ms, not 230 ms.");
}

TEST(JobFlowWords, NameNoStragglerIfClocksCannotBeAligned) {
  std::vector<RankFlow> apart = flows({100, 160}, false);
  for (CollectivePart& part : apart[1].graph.parts.parts) {
    part.start_ns += 5 * kMilli;
    part.end_ns += 5 * kMilli;
  }
  const JobFlow flow(std::move(apart));
  EXPECT_EQ(job_flow_words(flow),
            (std::vector<std::string>{"Over 2 ranks the devices compute for 78.3 %, are in "
                                      "communication with unmatched ranks for 21.7 %, "
                                      "and are idle for 0 %."}));
}

}  // namespace
}  // namespace assay
