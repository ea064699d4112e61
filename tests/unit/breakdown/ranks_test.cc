#include "breakdown/ranks.h"

#include <algorithm>
#include <cmath>

#include "breakdown/query.h"
#include "breakdown/tokens.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using assay::testing::TraceMaker;

// A rank of three collectives that all end together by the common clock; it comes to them at
// `arrivals`, and its own clock is ahead by `clock_ns`.
RankLevels rank(int64_t number, int64_t clock_ns, std::vector<int64_t> arrivals) {
  const int64_t ends[] = {1000, 2000, 3000};
  TraceMaker maker;
  maker.op(1, "aten::all", 0 + clock_ns, 4000);
  for (size_t k = 0; k < arrivals.size(); ++k) {
    const auto id = static_cast<uint32_t>(k + 1);
    maker.call(1, "cudaLaunchKernel", arrivals[k] - 10 + clock_ns, 2, id);
    maker.kernel(0, 20, "ncclDevKernel_AllReduce_Sum", arrivals[k] + clock_ns,
                 ends[k] - arrivals[k], id);
    maker.call(1, "cudaLaunchKernel", ends[k] + clock_ns, 2, id + 100);
    maker.kernel(0, 7, "gemm", ends[k] + 5 + clock_ns, 100, id + 100);
  }
  Trace trace = maker.build();
  trace.source = "rank_" + std::to_string(number) + ".json";
  trace.distributed.rank = number;
  trace.distributed.world_size = 3;
  const Links links = link_trace(trace);
  auto report = analyze_breakdown(trace, links, find_iterations(trace, links), BreakdownOptions{});
  EXPECT_TRUE(report.has_value());
  return summarize_rank(trace, -1, *std::move(report));
}

std::vector<RankLevels> three_ranks() {
  std::vector<RankLevels> ranks;
  ranks.push_back(rank(0, 0, {500, 1500, 2990}));
  ranks.push_back(rank(1, 70, {600, 1900, 2500}));   // its clock is 70 ahead
  ranks.push_back(rank(2, -30, {990, 1600, 2600}));  // its clock is 30 behind
  return ranks;
}

const Arrivals& of(const JobLevels& job, int64_t gpu) {
  return *std::find_if(job.arrivals.begin(), job.arrivals.end(),
                       [gpu](const Arrivals& a) { return a.gpu == gpu; });
}

TEST(Ranks, ClocksAreAlignedOnTheEndsOfCollectives) {
  const JobLevels job = combine_ranks(three_ranks());
  EXPECT_EQ(job.alignment.matched, 3u);
  EXPECT_EQ(job.alignment.used, 3u);
  ASSERT_EQ(job.alignment.offsets.size(), 3u);
  // Against the median clock, which is rank 0's.
  EXPECT_EQ(job.alignment.offsets[0].offset_ns, 0);
  EXPECT_EQ(job.alignment.offsets[1].offset_ns, 70);
  EXPECT_EQ(job.alignment.offsets[2].offset_ns, -30);
  EXPECT_EQ(job.alignment.residual_max_ns, 0);
}

TEST(Ranks, FindsTheLastRankAndItsCost) {
  const JobLevels job = combine_ranks(three_ranks());
  // First: rank 2 at 990, 390 behind rank 1. Second: rank 1 at 1900, 300 behind rank 2.
  // Third: rank 0 at 2990, 390 behind rank 2.
  EXPECT_EQ(of(job, 0).last, 1u);
  EXPECT_EQ(of(job, 0).last_margin_ns, 390);
  EXPECT_EQ(of(job, 0).waited_ns, 490 + 400);
  EXPECT_EQ(of(job, 1).last, 1u);
  EXPECT_EQ(of(job, 1).last_margin_ns, 300);
  EXPECT_EQ(of(job, 1).waited_ns, 390 + 490);
  EXPECT_EQ(of(job, 2).last, 1u);
  EXPECT_EQ(of(job, 2).last_margin_ns, 390);
  // Lags behind the median arrival: 390, 0, 0.
  EXPECT_EQ(of(job, 2).lag_median_ns, 0);
}

TEST(Ranks, ResultDoesNotDependOnTheOrderOfFiles) {
  std::vector<RankLevels> ranks = three_ranks();
  const JobLevels forward = combine_ranks(ranks);
  std::reverse(ranks.begin(), ranks.end());
  const JobLevels backward = combine_ranks(ranks);
  ASSERT_EQ(forward.cells.size(), backward.cells.size());
  for (size_t i = 0; i < forward.cells.size(); ++i) {
    EXPECT_EQ(forward.cells[i].gpu, backward.cells[i].gpu);
    EXPECT_EQ(forward.cells[i].sums.dur_ns, backward.cells[i].sums.dur_ns);
  }
  for (int64_t gpu = 0; gpu < 3; ++gpu) {
    EXPECT_EQ(of(forward, gpu).waited_ns, of(backward, gpu).waited_ns);
  }
}

TEST(Ranks, AnOutlineComparesRanksAsTheWholeDoes) {
  const std::vector<RankLevels> ranks = three_ranks();
  std::vector<RankLevels> outlines;
  for (const RankLevels& one : ranks) outlines.push_back(rank_outline(one));
  EXPECT_TRUE(outlines[0].report.kernels.empty());
  const JobLevels whole = combine_ranks(ranks);
  const JobLevels job = combine_ranks(outlines);
  ASSERT_EQ(job.gpus.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(job.gpus[i].span_ns, whole.gpus[i].span_ns);
    EXPECT_EQ(job.gpus[i].compute.dur_ns, whole.gpus[i].compute.dur_ns);
    EXPECT_EQ(job.gpus[i].slowest_op, whole.gpus[i].slowest_op);
    EXPECT_EQ(job.gpus[i].slowest_op_ratio, whole.gpus[i].slowest_op_ratio);
    EXPECT_EQ(of(job, static_cast<int64_t>(i)).last_margin_ns,
              of(whole, static_cast<int64_t>(i)).last_margin_ns);
  }
  EXPECT_EQ(job.alignment.matched, 3u);
  EXPECT_EQ(job.arrivals_by_kind.size(), whole.arrivals_by_kind.size());
}

// A rank whose operation `work` takes dur_ns.
RankLevels working_rank(int64_t number, int64_t dur_ns) {
  RankLevels one;
  one.file = "rank_" + std::to_string(number) + ".json";
  one.rank = number;
  one.report.op_names = {"work"};
  LevelSpan span;
  span.compute.dur_ns = dur_ns;
  one.report.spans = {span};
  LevelCell work;
  work.sums.dur_ns = dur_ns;
  one.report.cells = {work};
  return one;
}

TEST(Ranks, RatiosAreToTheMedianOfTheOtherGpus) {
  // Against the median of both, 300 of 100 would be 1.5 times.
  const JobLevels two = combine_ranks({working_rank(0, 100), working_rank(1, 300)});
  EXPECT_EQ(two.gpus[1].compute_ratio, 3);
  EXPECT_EQ(two.gpus[1].slowest_op, "work");
  EXPECT_EQ(two.gpus[1].slowest_op_ratio, 3);
  EXPECT_EQ(two.gpus[0].compute_ratio, 1.0 / 3);
  const JobLevels four = combine_ranks(
      {working_rank(0, 200), working_rank(1, 900), working_rank(2, 100), working_rank(3, 300)});
  EXPECT_EQ(four.gpus[1].compute_ratio, 4.5);      // others 100, 200, 300
  EXPECT_EQ(four.gpus[2].compute_ratio, 1.0 / 3);  // 200, 300, 900
  EXPECT_EQ(four.gpus[0].compute_ratio, 2.0 / 3);  // 100, 300, 900
  const JobLevels three =
      combine_ranks({working_rank(0, 200), working_rank(1, 200), working_rank(2, 100)});
  EXPECT_EQ(three.gpus[0].compute_ratio, 200.0 / 150);  // of two equal ones, one stays
}

TEST(Ranks, HasNoRatioWithoutOtherValues) {
  const JobLevels one = combine_ranks({working_rank(0, 100)});
  EXPECT_TRUE(std::isnan(one.gpus[0].compute_ratio));
  RankLevels other = working_rank(1, 100);
  other.report.op_names = {"rest"};
  const JobLevels two = combine_ranks({working_rank(0, 100), std::move(other)});
  EXPECT_EQ(two.gpus[0].slowest_op, "");
  EXPECT_TRUE(std::isnan(two.gpus[0].slowest_op_ratio));
}

TEST(Ranks, AnOutlineDoesNotGrowWithIterations) {
  RankLevels many = rank(0, 0, {500});
  ASSERT_FALSE(many.report.cells.empty());
  const size_t once = rank_outline(many).report.cells.size();
  for (int32_t iter = 1; iter <= 100; ++iter) {
    many.report.cells.push_back(many.report.cells.front());
    many.report.cells.back().iter = iter;
    many.report.cells.back().layer = iter % 7;
  }
  const RankLevels outline = rank_outline(many);
  EXPECT_EQ(outline.report.cells.size(), once);
  EXPECT_EQ(outline.report.cells.front().sums.kernels,
            101 * many.report.cells.front().sums.kernels);
}

TEST(Ranks, SpansCloseAndMissingRanksAreReported) {
  std::vector<RankLevels> ranks = three_ranks();
  ranks.pop_back();
  const JobLevels job = combine_ranks(std::move(ranks));
  for (const JobGpu& gpu : job.gpus) EXPECT_EQ(gpu.closure_ns, 0);
  const auto missing = std::find_if(job.trust.begin(), job.trust.end(),
                                    [](const TrustNote& n) { return n.what == "missing_ranks"; });
  ASSERT_NE(missing, job.trust.end());
  EXPECT_EQ(missing->count, 1u);
}

TEST(Ranks, CollectivesThatDifferInNumberAreNotCompared) {
  std::vector<RankLevels> ranks;
  ranks.push_back(rank(0, 0, {500, 1500, 2500}));
  ranks.push_back(rank(1, 0, {500, 1500}));
  const JobLevels job = combine_ranks(std::move(ranks));
  EXPECT_EQ(job.alignment.matched, 0u);
  EXPECT_EQ(job.alignment.unmatched, 5u);
  EXPECT_TRUE(job.arrivals.empty());
}

LevelCell cell(int64_t gpu, int32_t iter, LevelPhase phase, uint32_t op, int64_t dur_ns,
               int64_t overlap_ns) {
  LevelCell one{gpu, iter, phase, kNoLayer, op, OpType::kGemm, {}};
  one.sums.kernels = 1;
  one.sums.dur_ns = dur_ns;
  one.sums.overlap_ns = overlap_ns;
  return one;
}

std::vector<LevelGroupRow> query(std::string_view by, std::string_view where,
                                 std::string_view stats) {
  const std::vector<LevelCell> cells = {
      cell(0, 1, LevelPhase::kForward, 0, 100, 50), cell(0, 1, LevelPhase::kForward, 1, 20, 0),
      cell(0, 2, LevelPhase::kForward, 0, 300, 0),  cell(1, 1, LevelPhase::kForward, 0, 200, 200),
      cell(1, 2, LevelPhase::kBackward, 0, 900, 9), cell(1, -1, LevelPhase::kForward, 0, 5, 5)};
  const auto parsed = parse_level_query(by, where, stats);
  EXPECT_TRUE(parsed.has_value());
  return run_level_query(cells, {"mlp_up", "attn_fa"}, *parsed);
}

TEST(Query, StatisticsAreTakenOverGpusAndIterations) {
  const auto rows = query("phase,op", "phase=forward,op=mlp_*", "median,max");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].samples, 3u);  // 100, 300, 200; what lies outside iterations is no sample
  EXPECT_EQ(rows[0].dur_ns, 200);
  EXPECT_EQ(rows[1].dur_ns, 300);
  EXPECT_EQ(rows[0].overlap_ratio, 0.5);  // of 0.5, 0, 1
}

TEST(Query, RatiosAreTakenAfterSumming) {
  const auto rows = query("gpu", "gpu=0,iter=1", "mean");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].dur_ns, 120);
  EXPECT_DOUBLE_EQ(rows[0].overlap_ratio, 50.0 / 120.0);  // not the mean of 0.5 and 0
}

TEST(Query, FiltersTakeRangesAndAlternatives) {
  EXPECT_EQ(query("", "iter=1..2", "sum").at(0).dur_ns, 1520);
  EXPECT_EQ(query("", "gpu=0+1,iter=2", "sum").at(0).dur_ns, 1200);
  EXPECT_EQ(query("", "op=attn_fa", "sum").at(0).dur_ns, 20);
  EXPECT_FALSE(parse_level_query("phase,colour", "", "").has_value());
  EXPECT_FALSE(parse_level_query("", "gpu=x", "").has_value());
  EXPECT_FALSE(parse_level_query("", "iter=5..2", "").has_value());
  EXPECT_FALSE(parse_level_query("", "", "mode").has_value());
}

TEST(Tokens, AreTheElementsOfTheIndicesOfAnEmbedding) {
  EXPECT_EQ(embedding_tokens("[[128256,4096],[2,4096],[],[],[]]"), 8192);
  EXPECT_EQ(embedding_tokens("[[30522,512],[7]]"), 7);
  EXPECT_EQ(embedding_tokens("[[30522,512],[]]"), std::nullopt);
  EXPECT_EQ(embedding_tokens(""), std::nullopt);
  EXPECT_EQ(embedding_tokens("[[1,2],[-3,4]]"), std::nullopt);
}

}  // namespace
}  // namespace assay
