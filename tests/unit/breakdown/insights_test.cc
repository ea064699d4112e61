#include "breakdown/insights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr size_t kIterations = 7;

// Around a middle, without being constant: it drifts, which widens intervals.
FigureSeries about(double middle, double spread = 0.01) {
  FigureSeries series;
  for (size_t i = 0; i < kIterations; ++i)
    series.push_back(middle * (1 + spread * (static_cast<double>(i) - 3) / 3));
  return series;
}

FigureBox box_of(const FigureSeries& series) { return figure_box(series); }

FigureOp op_of(LevelPhase phase, OpType type, const std::string& name, double dur_ns) {
  FigureOp op;
  op.name = {phase, type, name};
  op.dur_each = about(dur_ns);
  op.dur_ns = box_of(op.dur_each);
  op.executions = 4 * kIterations * 2;
  for (int64_t gpu = 0; gpu < 4; ++gpu) op.gpus.push_back({gpu, kIterations * 2, 0.5, dur_ns / 2});
  return op;
}

FigurePart part_of(std::optional<OpType> type, double dur_ns, double launch_ns) {
  FigurePart part{LevelPhase::kForward, type};
  part.dur_each = about(dur_ns);
  part.launch_each = about(launch_ns);
  part.comm_wait_each = about(1);
  return part;
}

// Of four GPUs; `scale` is how much work it has.
ConfigFigures config(const std::string& name, double scale) {
  ConfigFigures one;
  one.name = name;
  one.gpus = 4;
  for (size_t i = 0; i < kIterations; ++i) one.iterations.push_back(static_cast<int32_t>(i));
  one.tokens = 4096 * scale;
  one.span_each = about(1400 * scale);
  one.overlap_each = about(0.5);
  one.parts = {part_of(std::nullopt, 1000 * scale, 100 * scale),
               part_of(OpType::kGemm, 600 * scale, 50 * scale),
               part_of(OpType::kAttention, 400 * scale, 50 * scale)};
  one.ops = {op_of(LevelPhase::kForward, OpType::kGemm, "mlp_up", 600 * scale),
             op_of(LevelPhase::kBackward, OpType::kAttention, "b_attn_fa", 400 * scale)};
  FigureComm comm{"all_gather", 4 * kIterations * 3, {}, about(200)};
  comm.dur_ns = box_of(comm.dur_each);
  comm.dur_ns.min = 100;
  one.comms = {comm};
  for (size_t i = 0; i < kIterations; ++i) one.gaps.push_back({100, 20, 10});
  return one;
}

Insight of_number(const std::vector<Insight>& all, int number) {
  return *std::find_if(all.begin(), all.end(),
                       [number](const Insight& one) { return one.number == number; });
}

Insight found(const std::vector<ConfigFigures>& configs, int number) {
  return of_number(find_insights(configs), number);
}

// ---- 1 ----

TEST(Insights, ReportsAnOperationThatTakesLessTimeWithMoreWork) {
  ConfigFigures b1 = config("b1", 1);
  ConfigFigures b2 = config("b2", 2);
  EXPECT_EQ(found({b1, b2}, 1).state, InsightState::kNot);
  b2.ops[1] = op_of(LevelPhase::kBackward, OpType::kAttention, "b_attn_fa", 320);
  const Insight one = found({b2, b1}, 1);  // in any order
  EXPECT_EQ(one.state, InsightState::kHolds);
  EXPECT_EQ(one.of, "b_attn_fa");
  EXPECT_EQ(one.config, "b1");
  EXPECT_EQ(one.other, "b2");
  EXPECT_DOUBLE_EQ(one.from, 400);
  EXPECT_DOUBLE_EQ(one.to, 320);
  EXPECT_LT(one.high, -50);
  EXPECT_EQ(one.n, kIterations);
  EXPECT_DOUBLE_EQ(one.share, 2);
}

TEST(Insights, DoesNotReportAnInsignificantDecrease) {
  ConfigFigures b1 = config("b1", 1);
  ConfigFigures b2 = config("b2", 2);
  b1.ops[1].dur_each = about(400, 0.5);
  b2.ops[1].dur_each = about(360, 0.5);
  EXPECT_EQ(found({b1, b2}, 1).state, InsightState::kNot);
}

TEST(Insights, WorkIsMoreOnlyWithMoreTokensAndLongerProducts) {
  ConfigFigures b1 = config("b1", 1);
  ConfigFigures b2 = config("b2", 2);
  b2.ops[1] = op_of(LevelPhase::kBackward, OpType::kAttention, "b_attn_fa", 320);
  ConfigFigures no_tokens = b2;
  no_tokens.tokens.reset();
  EXPECT_EQ(found({b1, no_tokens}, 1).state, InsightState::kUnknown);
  ConfigFigures more_gpus = b2;
  more_gpus.gpus = 8;
  EXPECT_EQ(found({b1, more_gpus}, 1).state, InsightState::kUnknown);
  ConfigFigures shared_out = b2;  // twice the tokens, products as long: other parallelism
  shared_out.parts[1] = part_of(OpType::kGemm, 600, 50);
  EXPECT_EQ(found({b1, shared_out}, 1).state, InsightState::kUnknown);
  EXPECT_EQ(found({b1}, 1).state, InsightState::kUnknown);
  ConfigFigures half_as_often = b2;
  for (FigureOp& op : half_as_often.ops) op.executions /= 2;
  EXPECT_EQ(found({b1, half_as_often}, 1).state, InsightState::kUnknown);
}

// ---- 2 ----

TEST(Insights, ReportsACollectiveWithAGrowingMedianOnly) {
  const ConfigFigures b1 = config("b1", 1);
  ConfigFigures b2 = config("b2", 2);
  EXPECT_EQ(found({b1, b2}, 2).state, InsightState::kNot);  // as long in both
  b2.comms[0].dur_each = about(380);
  const Insight one = found({b1, b2}, 2);
  EXPECT_EQ(one.state, InsightState::kHolds);
  EXPECT_EQ(one.of, "all_gather");
  EXPECT_DOUBLE_EQ(one.from, 200);
  EXPECT_DOUBLE_EQ(one.to, 380);
  EXPECT_NEAR(one.share, 1, 0.01);
  ConfigFigures longer = b2;
  longer.comms[0].dur_ns.min = 190;  // its transfer grows too
  EXPECT_EQ(found({b1, longer}, 2).state, InsightState::kNot);
  ConfigFigures more_of_them = b2;
  more_of_them.comms[0].kernels *= 2;
  EXPECT_EQ(found({b1, more_of_them}, 2).state, InsightState::kNot);
}

// ---- 3 ----

TEST(Insights, ReportsGpusThatOverlapMoreAndTakeLonger) {
  ConfigFigures b1 = config("b1", 1);
  EXPECT_EQ(found({b1}, 3).state, InsightState::kNot);  // alike on all
  FigureOp& op = b1.ops[0];
  op.gpus.clear();
  const double overlap[] = {0.0, 0.3, 0.6, 0.9, 0.95, 1.0};
  const double dur[] = {300, 311, 319, 330, 331, 334};
  for (int64_t gpu = 0; gpu < 6; ++gpu) op.gpus.push_back({gpu, 14, overlap[gpu], dur[gpu]});
  b1.gpus = 6;
  const Insight one = found({b1}, 3);
  EXPECT_EQ(one.state, InsightState::kHolds);
  EXPECT_EQ(one.of, "mlp_up");
  EXPECT_EQ(one.n, 6u);
  EXPECT_EQ(one.gpu_from, 0);
  EXPECT_EQ(one.gpu_to, 5);
  // By statistics.correlation of Python, and tanh(atanh(r) - 1.96 / sqrt(3)).
  EXPECT_NEAR(one.share, 0.998433, 1e-6);
  EXPECT_NEAR(one.low, 0.985038, 1e-6);
  const double other_way[] = {334, 330, 331, 319, 311, 300};
  for (size_t gpu = 0; gpu < 6; ++gpu) op.gpus[gpu].dur_ns = other_way[gpu];
  EXPECT_EQ(found({b1}, 3).state, InsightState::kNot);
  const double at_random[] = {334, 300, 331, 319, 311, 330};
  for (size_t gpu = 0; gpu < 6; ++gpu) op.gpus[gpu].dur_ns = at_random[gpu];
  EXPECT_EQ(found({b1}, 3).state, InsightState::kNot);
  b1.gpus = 3;
  EXPECT_EQ(found({b1}, 3).state, InsightState::kUnknown);
}

// ---- 4 and 6 ----

TEST(Insights, ReportsSharesThatFallWithMoreWork) {
  const ConfigFigures b1 = config("b1", 1);
  ConfigFigures b2 = config("b2", 2);
  for (const int number : {4, 6}) EXPECT_EQ(found({b1, b2}, number).state, InsightState::kNot);
  b2.overlap_each = about(0.3);
  b2.parts[0] = part_of(std::nullopt, 2000, 100);
  const Insight overlap = found({b1, b2}, 4);
  EXPECT_EQ(overlap.state, InsightState::kHolds);
  EXPECT_DOUBLE_EQ(overlap.from, 0.5);
  EXPECT_DOUBLE_EQ(overlap.to, 0.3);
  EXPECT_LT(overlap.high, -0.17);
  const Insight launch = found({b1, b2}, 6);
  EXPECT_EQ(launch.state, InsightState::kHolds);
  EXPECT_DOUBLE_EQ(launch.from, 0.1);
  EXPECT_DOUBLE_EQ(launch.to, 0.05);
  // Two iterations a side tell nothing.
  ConfigFigures short_b1 = b1;
  ConfigFigures short_b2 = b2;
  for (ConfigFigures* one : {&short_b1, &short_b2}) {
    one->overlap_each.resize(2);
    for (FigurePart& part : one->parts) part.launch_each.resize(2);
  }
  EXPECT_EQ(found({short_b1, short_b2}, 4).state, InsightState::kUnknown);
  EXPECT_EQ(found({short_b1, short_b2}, 6).state, InsightState::kUnknown);
}

// ---- 5 ----

TEST(Insights, ReportsWaitsForCollectivesAtTheEnds) {
  ConfigFigures b1 = config("b1", 1);
  EXPECT_EQ(found({b1}, 5).state, InsightState::kNot);  // a fifth lies there
  b1.gaps.clear();
  for (size_t i = 0; i < kIterations; ++i)
    b1.gaps.push_back({100, 80 + static_cast<double>(i) / 10, 70});
  const Insight one = found({b1}, 5);
  EXPECT_EQ(one.state, InsightState::kHolds);
  EXPECT_NEAR(one.from, 0.803, 1e-9);
  EXPECT_NEAR(one.share, 70 / 80.3, 1e-9);
  EXPECT_LT(one.low, one.from);
  ConfigFigures host = b1;
  for (FigureGaps& gap : host.gaps) gap.edges_comm_ns = 10;
  EXPECT_EQ(found({host}, 5).state, InsightState::kNot);
  ConfigFigures dense = b1;
  for (FigureGaps& gap : dense.gaps) gap = {10, 8, 7};  // of a span of 1,400
  EXPECT_EQ(found({dense}, 5).state, InsightState::kNot);
  b1.comms.clear();
  EXPECT_EQ(found({b1}, 5).state, InsightState::kUnknown);
}

// ---- 7 ----

TEST(Insights, ReportsActiveCoresThatAreHardlyUsed) {
  ConfigFigures b1 = config("b1", 1);
  EXPECT_EQ(found({b1}, 7).state, InsightState::kUnknown);
  for (int64_t t = 0; t < 40; ++t)
    b1.cores.push_back({t, 25 + static_cast<int>(t % 3), 9 + 0.1 * static_cast<double>(t % 2)});
  EXPECT_EQ(found({b1}, 7).state, InsightState::kUnknown);  // physical cores are not told
  b1.cores_used_share = 0.125;
  const Insight one = found({b1}, 7);
  EXPECT_EQ(one.state, InsightState::kHolds);
  EXPECT_DOUBLE_EQ(one.from, 26);
  EXPECT_GT(one.low, 2.5);
  EXPECT_EQ(one.n, 40u);
  ConfigFigures used = b1;
  used.cores_used_share = 0.9;
  EXPECT_EQ(found({used}, 7).state, InsightState::kNot);
  for (FigureCores& at : b1.cores) at.least = 15;
  EXPECT_EQ(found({b1}, 7).state, InsightState::kNot);
}

// ---- 8 ----

FigureWaterfall bars(const std::string& op, int64_t utilisation, int64_t frequency) {
  return {{LevelPhase::kForward, OpType::kGemm, op},
          10,
          {{"theoretical", 1000},
           {"instruction", 0},
           {"utilisation", utilisation},
           {"overlap", 50},
           {"frequency", frequency},
           {"residual", 10}}};
}

TEST(Insights, ReportsFrequencyAsTheLargestOverhead) {
  ConfigFigures b1 = config("b1", 1);
  EXPECT_EQ(found({b1}, 8).state, InsightState::kUnknown);
  b1.waterfalls = {bars("a", 200, 500), bars("b", 100, 400), bars("c", 300, 250)};
  const Insight one = found({b1}, 8);
  EXPECT_EQ(one.state, InsightState::kHolds);
  EXPECT_DOUBLE_EQ(one.from, 1150);
  EXPECT_DOUBLE_EQ(one.to, 1150 + 600 + 150 + 30);
  EXPECT_DOUBLE_EQ(one.share, 2);
  EXPECT_EQ(one.n, 3u);
  b1.waterfalls = {bars("a", 200, 900), bars("b", 500, 400), bars("c", 300, 250)};
  EXPECT_EQ(found({b1}, 8).state, InsightState::kNot);  // largest in one of three
  b1.waterfalls = {bars("a", 900, 300)};
  EXPECT_EQ(found({b1}, 8).why, "the largest overhead is utilisation");
}

TEST(Insights, ReportsFrequencyAsTheLargestDecrease) {
  ConfigFigures v1 = config("v1", 1);
  ConfigFigures v2 = config("v2", 1);
  v1.waterfalls = {bars("a", 200, 500), bars("only_here", 100, 400)};
  v2.waterfalls = {bars("a", 190, 300)};
  const std::vector<Insight> all = find_insights({v1, v2});
  EXPECT_EQ(all.back().state, InsightState::kHolds);
  EXPECT_EQ(all.back().other, "v2");
  EXPECT_DOUBLE_EQ(all.back().from, 50);  // 10 executions
  EXPECT_DOUBLE_EQ(all.back().to, 30);
  EXPECT_NEAR(all.back().share, 20.0 / 21, 1e-9);
  v2.waterfalls = {bars("a", 20, 490)};
  EXPECT_EQ(find_insights({v1, v2}).back().why, "what fell most is utilisation");
  v2.waterfalls = {bars("a", 300, 600)};
  EXPECT_EQ(find_insights({v1, v2}).back().why, "overheads do not fall");
}

}  // namespace
}  // namespace assay
