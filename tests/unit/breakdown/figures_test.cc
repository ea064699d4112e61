#include "breakdown/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "breakdown/token_groups.h"

namespace assay {
namespace {

enum Op : uint32_t { kQkv, kNorm, kGather, kAttnOp, kBackNorm };
const std::vector<std::string> kNames = {"qkv_ip", "attn_n", "all_gather", "attn_op", "b_attn_n"};

LevelCell cell(int64_t gpu, int32_t iter, LevelPhase phase, int32_t layer, Op op, OpType type,
               int64_t dur_ns, int64_t overlap_ns = 0, int64_t prep_ns = 0, int64_t call_ns = 0) {
  LevelCell one{gpu, iter, phase, layer, op, type, {}};
  one.sums.kernels = 1;
  one.sums.dur_ns = dur_ns;
  one.sums.op_dur_ns = dur_ns + 1;  // a bubble of 1 inside
  one.sums.overlap_ns = overlap_ns;
  one.sums.prep_ns = prep_ns;
  one.sums.call_ns = call_ns;
  one.sums.launch_ns = prep_ns + call_ns;
  return one;
}

LevelSpan span(int64_t gpu, int32_t iter, int64_t span_ns, std::optional<int64_t> tokens) {
  LevelSpan one;
  one.gpu = gpu;
  one.iter = iter;
  one.span_ns = span_ns;
  one.tokens = tokens;
  return one;
}

// Two GPUs, two iterations, two layers of one forward matrix product and one norm.
JobLevels job() {
  constexpr LevelPhase kF = LevelPhase::kForward;
  JobLevels job;
  job.ranks = 2;
  job.op_names = kNames;
  for (int64_t gpu = 0; gpu < 2; ++gpu) {
    for (int32_t iter = 1; iter <= 2; ++iter) {
      const int64_t extra = 10 * gpu + iter;
      // GPU 1 overlaps wholly and takes longer.
      job.cells.push_back(
          cell(gpu, iter, kF, 0, kQkv, OpType::kGemm, 100 + extra, gpu * (100 + extra), 4, 2));
      job.cells.push_back(cell(gpu, iter, kF, 0, kNorm, OpType::kVector, 20));
      job.cells.push_back(
          cell(gpu, iter, kF, 1, kQkv, OpType::kGemm, 200 + extra, gpu * (200 + extra), 0, 0));
      job.cells.push_back(cell(gpu, iter, kF, 1, kNorm, OpType::kVector, 30, 0, 0, 8));
      job.cells.push_back(cell(gpu, iter, kF, 1, kGather, OpType::kComm, 50 * iter + 100 * gpu));
      job.spans.push_back(span(gpu, iter, 400 + 100 * gpu + iter, 8));
    }
    job.gpus.push_back({});
    job.gpus.back().gpu = gpu;
    job.gpus.back().token_group = gpu;
  }
  // Outside every iteration: in no figure.
  job.cells.push_back(cell(0, kNoIteration, kF, 0, kQkv, OpType::kGemm, 100000));
  job.iterations = job_iterations(job.spans, job.gpus);
  return job;
}

const FigurePart& part(const ConfigFigures& figures, LevelPhase phase, std::optional<OpType> type) {
  return *std::find_if(figures.parts.begin(), figures.parts.end(), [&](const FigurePart& one) {
    return one.phase == phase && one.op_type == type;
  });
}

const FigureOp& op(const ConfigFigures& figures, const std::string& name) {
  return *std::find_if(figures.ops.begin(), figures.ops.end(),
                       [&name](const FigureOp& one) { return one.name.op == name; });
}

TEST(Figures, ThroughputTakesTheLongestGpuOfAnIteration) {
  const ConfigFigures figures = config_figures("b1s4", job(), {});
  // 16 tokens of both GPUs over 501 and 502 ns; the median of two is their mean.
  EXPECT_EQ(figures.tokens, 16);
  EXPECT_DOUBLE_EQ(figures.tokens_per_s, (16e9 / 501 + 16e9 / 502) / 2);
  EXPECT_EQ(figures.gpus, 2u);
  EXPECT_EQ(figures.iterations, (std::vector<int32_t>{1, 2}));
}

TEST(Figures, TokensOfTheUserHavePriority) {
  EXPECT_EQ(config_figures("b1s4", job(), {{}, 64}).tokens, 64);
  JobLevels silent = job();
  for (LevelSpan& one : silent.spans) one.tokens.reset();
  silent.iterations = job_iterations(silent.spans, silent.gpus);
  EXPECT_FALSE(config_figures("b1s4", silent, {}).tokens);
  EXPECT_TRUE(std::isnan(config_figures("b1s4", silent, {}).tokens_per_s));
}

TEST(Figures, PhasesAreMediansOverGpusAndIterations) {
  const ConfigFigures figures = config_figures("b1s4", job(), {});
  // Matrix products: 302, 304, 322, 324.
  EXPECT_EQ(part(figures, LevelPhase::kForward, OpType::kGemm).dur_ns, 313);
  EXPECT_EQ(part(figures, LevelPhase::kForward, OpType::kGemm).launch_ns, 6);
  EXPECT_EQ(part(figures, LevelPhase::kForward, OpType::kVector).dur_ns, 50);
  // 14 in each; collectives are no kernel time.
  EXPECT_EQ(part(figures, LevelPhase::kForward, std::nullopt).launch_ns, 14);
  EXPECT_EQ(part(figures, LevelPhase::kForward, std::nullopt).dur_ns, 363);
  EXPECT_EQ(part(figures, LevelPhase::kForward, std::nullopt).samples, 4u);
}

TEST(Figures, OperationsAreSummedOverLayersWithTheirBubbles) {
  const FigureOp qkv = op(config_figures("b1s4", job(), {}), "qkv_ip");
  EXPECT_EQ(qkv.dur_ns.samples, 4u);
  EXPECT_EQ(qkv.dur_ns.min, 304);  // GPU 0, iteration 1: 101 + 201, and 1 in each
  EXPECT_EQ(qkv.dur_ns.max, 326);  // GPU 1, iteration 2: 112 + 212
  EXPECT_EQ(qkv.executions, 8u);
  EXPECT_EQ(qkv.prep_ns, 2);  // 4 and 0
  EXPECT_EQ(qkv.call_ns, 1);
}

TEST(Figures, OverlapIsCorrelatedOverExecutions) {
  const ConfigFigures figures = config_figures("b1s4", job(), {});
  // Overlap 0 or 1; durations 102 103 112 113 and 202 203 212 213, means 157.5 all, +5 for 1:
  // r = 5 / sd, sd^2 = 50^2 + 5^2 + 0.5^2.
  EXPECT_NEAR(op(figures, "qkv_ip").correlation, 5 / std::sqrt(2500 + 25 + 0.25), 1e-12);
  EXPECT_TRUE(std::isnan(op(figures, "attn_n").correlation));
}

TEST(Figures, CommunicationIsSummedPerGpuAndIteration) {
  const ConfigFigures figures = config_figures("b1s4", job(), {});
  ASSERT_EQ(figures.comms.size(), 1u);
  EXPECT_EQ(figures.comms[0].kind, "all_gather");
  EXPECT_EQ(figures.comms[0].dur_ns.median, 125);  // 50, 100, 150, 200
  EXPECT_EQ(figures.comms[0].kernels, 4u);
}

TEST(Figures, LayersShowTheSpreadOverGpus) {
  const ConfigFigures figures = config_figures("b1s4", job(), {});
  const auto at =
      std::find_if(figures.layers.begin(), figures.layers.end(), [](const FigureLayer& one) {
        return one.name.op == "qkv_ip" && one.iter == 2 && one.layer == 1;
      });
  ASSERT_NE(at, figures.layers.end());
  EXPECT_EQ(at->dur_ns.samples, 2u);
  EXPECT_EQ(at->dur_ns.median, 208);  // 203 and 213
  EXPECT_EQ(at->overlap_ratio.min, 0);
  EXPECT_EQ(at->overlap_ratio.max, 1);
}

TEST(Figures, CurvesGrowFromTheLeastDurationOfAGpu) {
  const ConfigFigures figures = config_figures("b1s4", job(), {});
  std::vector<FigureExecution> second;
  for (const FigureExecution& one : figures.executions) {
    if (one.gpu == 1) second.push_back(one);
  }
  ASSERT_EQ(second.size(), 4u);
  EXPECT_EQ(second[0].relative, 1);
  EXPECT_DOUBLE_EQ(second[3].relative, 213.0 / 112.0);
  EXPECT_EQ(second[1].cumulative, 0.5);  // all overlap wholly
  EXPECT_EQ(second[3].cumulative, 1);
  // GPU 0 overlaps nowhere: there is nothing to accumulate.
  EXPECT_TRUE(std::isnan(figures.executions.front().cumulative));
}

TEST(Figures, AnOperationHasTheTypeOfMostOfItsTime) {
  JobLevels mixed = job();
  mixed.cells.insert(mixed.cells.begin() + 1,
                     cell(0, 1, LevelPhase::kForward, 0, kQkv, OpType::kVector, 5));
  const ConfigFigures figures = config_figures("b1s4", mixed, {});
  EXPECT_EQ(std::count_if(figures.ops.begin(), figures.ops.end(),
                          [](const FigureOp& one) { return one.name.op == "qkv_ip"; }),
            1);
  EXPECT_EQ(op(figures, "qkv_ip").name.type, OpType::kGemm);
  EXPECT_EQ(op(figures, "qkv_ip").executions, 8u);
}

TEST(Figures, ConditionsChooseCellsAndIterations) {
  const auto query = parse_level_query("", "iter=2,gpu=1", "");
  ASSERT_TRUE(query.has_value());
  const ConfigFigures figures = config_figures("b1s4", job(), {query->where, {}});
  EXPECT_EQ(figures.gpus, 1u);
  EXPECT_EQ(figures.iterations, std::vector<int32_t>{2});
  EXPECT_EQ(op(figures, "qkv_ip").dur_ns.median, 326);
  EXPECT_EQ(figures.tokens, 16);  // the job's, whichever GPU is looked at
}

TEST(Figures, TheCurveIsOfTheOutputProjectionWhereThereIsOne) {
  JobLevels other = job();
  std::vector<ConfigFigures> configs = {config_figures("a", other, {})};
  EXPECT_EQ(curve_op(configs)->op, "qkv_ip");
  other.cells.push_back(cell(1, 2, LevelPhase::kForward, 1, kAttnOp, OpType::kGemm, 5));
  configs.push_back(config_figures("b", other, {}));
  EXPECT_EQ(curve_op(configs)->op, "attn_op");
  EXPECT_FALSE(curve_op({}).has_value());
}

TEST(Figures, DominantOperationsAreTheLongestOfAllConfigurations) {
  JobLevels other = job();
  other.cells.push_back(cell(1, 2, LevelPhase::kForward, 1, kAttnOp, OpType::kGemm, 5));
  const std::vector<ConfigFigures> configs = {config_figures("a", job(), {}),
                                              config_figures("b", other, {})};
  const auto ops = dominant_ops(configs, LevelPhase::kForward, OpType::kGemm, 1);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].op, "qkv_ip");
  EXPECT_EQ(dominant_ops(configs, LevelPhase::kForward, OpType::kGemm, 5).size(), 2u);
  EXPECT_TRUE(dominant_ops(configs, LevelPhase::kBackward, OpType::kGemm, 5).empty());
}

// ---- token groups ----

// A rank that reduces `times` per iteration in a phase, over two iterations of 8 tokens.
RankLevels rank(int64_t number, const std::string& ranks, int times, LevelPhase phase,
                int64_t tokens = 8) {
  RankLevels one;
  one.rank = number;
  one.file = "rank" + std::to_string(number);
  one.report.placement.layers = 6;
  one.report.groups.push_back({"tp", ranks, "all_reduce"});
  for (int32_t iter = 1; iter <= 2; ++iter) {
    for (int k = 0; k < times; ++k)
      one.report.collectives.push_back({0, iter, phase, k, 100 * iter + k, 100 * iter + k + 1});
    one.report.spans.push_back(span(0, iter, 1000 * iter, tokens));
  }
  return one;
}

TEST(TokenGroups, RanksThatReduceInEveryLayerReadTheSameTokens) {
  constexpr LevelPhase kF = LevelPhase::kForward;
  const std::vector<RankLevels> ranks = {rank(0, "[0,1]", 6, kF), rank(1, "[0,1]", 6, kF),
                                         rank(2, "[2,3]", 12, kF), rank(3, "[2,3]", 12, kF)};
  EXPECT_EQ(token_groups(ranks), (std::vector<size_t>{0, 0, 2, 2}));
  const JobLevels job = combine_ranks(ranks);
  ASSERT_EQ(job.iterations.size(), 2u);
  EXPECT_EQ(job.iterations[0].tokens, 16);  // 8 of each group
  EXPECT_DOUBLE_EQ(job.iterations[1].tokens_per_s, 16e9 / 2000);
}

TEST(TokenGroups, DataParallelRanksReadTheirOwn) {
  // Gradients in the backward pass, a loss or two in the forward pass.
  const auto alone = std::vector<size_t>{0, 1};
  EXPECT_EQ(token_groups({rank(0, "[0,1]", 60, LevelPhase::kBackward),
                          rank(1, "[0,1]", 60, LevelPhase::kBackward)}),
            alone);
  EXPECT_EQ(token_groups({rank(0, "[0,1]", 5, LevelPhase::kForward),
                          rank(1, "[0,1]", 5, LevelPhase::kForward)}),
            alone);
}

TEST(TokenGroups, DifferentNumbersOfTokensAreNotTheSameTokens) {
  EXPECT_EQ(token_groups({rank(0, "[0,1]", 6, LevelPhase::kForward, 8),
                          rank(1, "[0,1]", 6, LevelPhase::kForward, 9)}),
            (std::vector<size_t>{0, 1}));
}

TEST(TokenGroups, OneGpuWithoutTokensLeavesTheJobWithout) {
  constexpr LevelPhase kB = LevelPhase::kBackward;
  std::vector<RankLevels> ranks = {rank(0, "[0,1]", 6, kB), rank(1, "[0,1]", 6, kB)};
  for (LevelSpan& one : ranks[1].report.spans) one.tokens.reset();
  const JobLevels job = combine_ranks(ranks);
  EXPECT_FALSE(job.iterations.front().tokens);
  EXPECT_TRUE(std::isnan(job.iterations.front().tokens_per_s));
}

}  // namespace
}  // namespace assay
