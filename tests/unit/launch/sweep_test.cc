// CPU-bound or GPU-bound from a sweep: the specification's table (closed-form model, truth known),
// its vector of measured-looking numbers, the refusals, crossover and balanced region.

#include "launch/sweep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace assay {
namespace {

SweepPoint point(double batch, double q) {
  SweepPoint result;
  result.batch = batch;
  result.tklqt_ns = {q * 100};
  result.launches = {100};
  return result;
}

std::vector<SweepPoint> sweep_of(const std::vector<double>& q) {
  std::vector<SweepPoint> sweep;
  double batch = 1;
  for (double value : q) {
    sweep.push_back(point(batch, value));
    batch *= 2;
  }
  return sweep;
}

// 300 launches, one every 8 us, launch latency 5 us, kernels of a + k x batch us, batches 1 .. 128:
// TKLQT = N t0, and (e - d) N (N-1) / 2 more once kernels last longer than the launch interval.
std::vector<SweepPoint> model(double a, double k) {
  constexpr double kLaunches = 300;
  std::vector<SweepPoint> sweep;
  for (double batch = 1; batch <= 128; batch *= 2) {
    SweepPoint result;
    result.batch = batch;
    const double lag = std::max(0.0, a + k * batch - 8);
    result.tklqt_ns = {1000 * (kLaunches * 5 + lag * kLaunches * (kLaunches - 1) / 2)};
    result.launches = {kLaunches};
    sweep.push_back(result);
  }
  return sweep;
}

struct ModelRow {
  double a;
  double k;
  double last_cpu;
  double first_gpu;
  double inflection;
  double tolerance;
  bool coarse;
};

TEST(Bound, FindsTheKneeOfTheModel) {
  const std::vector<ModelRow> rows = {
      {0, 1.5, 4, 8, 5.333, 5e-4, false},   {0, 0.4, 16, 32, 20.000, 5e-4, false},
      {0, 3.9, 2, 4, 2.0513, 5e-5, false},  {2, 1.5, 4, 8, 4.000, 5e-4, false},
      {2, 0.4, 8, 16, 15.000, 5e-4, false}, {0, 0.11, 64, 128, 90.51, 5e-3, true},
  };
  for (const ModelRow& row : rows) {
    SCOPED_TRACE("a=" + std::to_string(row.a) + " k=" + std::to_string(row.k));
    const auto report = analyze_bound(model(row.a, row.k), {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->verdict, BoundVerdict::kTransition);
    EXPECT_DOUBLE_EQ(report->plateau_ns, 5000);
    EXPECT_EQ(report->last_cpu_batch, row.last_cpu);
    EXPECT_EQ(report->first_gpu_batch, row.first_gpu);
    EXPECT_NEAR(report->inflection_batch, row.inflection, row.tolerance);
    EXPECT_EQ(report->coarse, row.coarse);
    EXPECT_EQ(report->interval_source, IntervalSource::kBracket);
    EXPECT_EQ(report->low_batch, row.last_cpu);
    EXPECT_EQ(report->high_batch, row.first_gpu);
    EXPECT_EQ(report->tau, 2);
    EXPECT_EQ(report->rho, 0.25);
  }
}

TEST(Bound, FindsTheKneeOfTheNumbersOfTheSpecification) {
  const auto report = analyze_bound(sweep_of({5.0, 5.1, 4.9, 5.2, 14, 60, 200}), {});
  ASSERT_TRUE(report);
  EXPECT_DOUBLE_EQ(report->plateau_ns, 5.05);
  EXPECT_EQ(report->plateau_points, 4u);
  EXPECT_EQ(report->last_cpu_batch, 8);
  EXPECT_EQ(report->first_gpu_batch, 16);
  EXPECT_NEAR(report->inflection_batch, 12.887, 5e-4);
  EXPECT_FALSE(report->points[3].gpu_bound);
  EXPECT_TRUE(report->points[4].gpu_bound);
  EXPECT_NEAR(report->points[4].queue_share, 1 - 5.05 / 14, 1e-12);
  EXPECT_EQ(report->points[0].queue_share, 0);
}

TEST(Bound, FlatSweepIsCpuBoundThroughout) {
  const auto report = analyze_bound(sweep_of({5.0, 5.1, 4.9, 5.2}), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, BoundVerdict::kCpuBoundThroughout);
  EXPECT_EQ(report->last_cpu_batch, 8);
  EXPECT_TRUE(std::isnan(report->first_gpu_batch));
  EXPECT_TRUE(std::isnan(report->inflection_batch));
  EXPECT_EQ(report->interval_source, IntervalSource::kNone);
}

TEST(Bound, OneBusyBatchThatDoesNotPersistIsNotATransition) {
  const auto report = analyze_bound(sweep_of({5, 5, 30, 5, 5}), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, BoundVerdict::kCpuBoundThroughout);
}

TEST(Bound, GrowthFromTheSmallestBatchIsGpuBoundAtMin) {
  const auto report = analyze_bound(sweep_of({5, 9, 20, 50}), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, BoundVerdict::kGpuBoundAtMin);
  EXPECT_EQ(report->first_gpu_batch, 1);
  EXPECT_TRUE(std::isnan(report->last_cpu_batch));
  EXPECT_TRUE(std::isnan(report->plateau_ns));
  EXPECT_TRUE(std::isnan(report->points[0].queue_share));
  EXPECT_TRUE(report->points[0].gpu_bound);
}

TEST(Bound, AFloorReplacesAMissingPlateau) {
  BoundOptions options;
  options.floor_ns = 5;
  const auto report = analyze_bound(sweep_of({5, 9, 20, 50}), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, BoundVerdict::kTransition);
  EXPECT_EQ(report->plateau_ns, 5);
  EXPECT_EQ(report->plateau_points, 0u);
  EXPECT_EQ(report->last_cpu_batch, 2);
  EXPECT_EQ(report->first_gpu_batch, 4);
  EXPECT_DOUBLE_EQ(report->inflection_batch, 2);  // 4 - 15/7.5
}

TEST(Bound, AllAboveTheFloorIsGpuBoundAtMin) {
  BoundOptions options;
  options.floor_ns = 2;
  const auto report = analyze_bound(sweep_of({5, 9, 20, 50}), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, BoundVerdict::kGpuBoundAtMin);
}

TEST(Bound, APlateauFarAboveTheFloorQueuesAlready) {
  BoundOptions options;
  options.floor_ns = 2;
  const auto above = analyze_bound(sweep_of({7, 7, 7, 7}), options);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->verdict, BoundVerdict::kGpuBoundAtMin);
  const auto at = analyze_bound(sweep_of({6, 6, 6, 6}), options);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->verdict, BoundVerdict::kCpuBoundThroughout);
}

TEST(Bound, AFallingFirstBatchIsWarmUp) {
  const auto report = analyze_bound(sweep_of({40, 5, 5, 5, 30, 80}), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->skipped_points, 1u);
  EXPECT_EQ(report->plateau_ns, 5);
  EXPECT_EQ(report->last_cpu_batch, 8);
  EXPECT_EQ(report->first_gpu_batch, 16);
  EXPECT_FALSE(report->points[3].gpu_bound);
  EXPECT_TRUE(report->points[4].gpu_bound);
}

TEST(Bound, RepeatsGiveABootstrapInterval) {
  std::vector<SweepPoint> sweep = sweep_of({5, 5, 5, 14, 60});
  for (SweepPoint& p : sweep) {
    const double middle = p.tklqt_ns[0];
    p.tklqt_ns = {0.95 * middle, middle, 1.05 * middle};
  }
  const auto report = analyze_bound(sweep, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->interval_source, IntervalSource::kBootstrap);
  // 8 - 9 / (46/8) = 6.4348 between batches 4 and 8.
  EXPECT_NEAR(report->inflection_batch, 6.4348, 5e-5);
  EXPECT_LT(report->low_batch, report->inflection_batch);
  EXPECT_GT(report->high_batch, report->inflection_batch);
  EXPECT_GT(report->low_batch, 6.2);
  EXPECT_LT(report->high_batch, 6.7);
  EXPECT_EQ(report->bootstrap_transition_share, 1);
  const auto again = analyze_bound(sweep, {});
  EXPECT_EQ(report->low_batch, again->low_batch);
  EXPECT_EQ(report->high_batch, again->high_batch);
}

TEST(Bound, NoisyRepeatsWidenThePlateau) {
  // Repeats 4, 5, 6: MAD / median = 1/5, rho = 3 x 1.4826 / 5.
  std::vector<SweepPoint> sweep = sweep_of({5, 5, 5});
  for (SweepPoint& p : sweep) p.tklqt_ns = {400, 500, 600};
  const auto report = analyze_bound(sweep, {});
  ASSERT_TRUE(report);
  EXPECT_NEAR(report->rho, 0.88956, 1e-9);
}

void expect_refusal(const std::vector<SweepPoint>& sweep, const std::string& words) {
  const auto report = analyze_bound(sweep, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(report.error().message.find(words), std::string::npos) << report.error().message;
}

TEST(Bound, RefusesInputsOtherThanSweeps) {
  expect_refusal(sweep_of({5, 5}), "at least 3 batch sizes");
  std::vector<SweepPoint> sweep = sweep_of({5, 5, 5});
  sweep[2].batch = 2;
  expect_refusal(sweep, "batch sizes must increase, but 2 follows 2");
  sweep = sweep_of({5, 5, 5});
  sweep[1].launches = {0};
  expect_refusal(sweep, "batch 2: zero launches");
  sweep = sweep_of({5, 5, 5});
  sweep[1].tklqt_ns = {std::nan("")};
  expect_refusal(sweep, "batch 2: TKLQT");
  sweep = sweep_of({5, 5, 5});
  sweep[0].tklqt_ns = {};
  expect_refusal(sweep, "batch 1: no TKLQT");
  sweep = sweep_of({5, 5, 5});
  sweep[0].launches = {1, 2};
  expect_refusal(sweep, "batch 1: give one launch count");
  sweep = sweep_of({5, 5, 5});
  sweep[0].batch = -1;
  expect_refusal(sweep, "positive");
  expect_refusal(sweep_of({50, 20, 5}), "falls as the batch grows");
}

// SKIP section V-B: knees at batch 8 (loosely coupled) and 32 (GH200), a 4 times wider CPU-bound
// region.
TEST(Bound, PaperKneesAreAFactorOfFourApart) {
  const auto loose = analyze_bound(sweep_of({5, 5, 5, 14, 60, 200, 500}), {});
  const auto close = analyze_bound(sweep_of({5, 5, 5, 5, 5, 14, 60}), {});
  ASSERT_TRUE(loose);
  ASSERT_TRUE(close);
  EXPECT_EQ(loose->first_gpu_batch, 8);
  EXPECT_EQ(close->first_gpu_batch, 32);
  EXPECT_EQ(close->first_gpu_batch / loose->first_gpu_batch, 4);
}

TEST(Bound, BalancedWhereBothSharesAreBelowTheBound) {
  std::vector<SweepPoint> sweep = sweep_of({5, 5, 5, 5, 5});
  const std::vector<double> gpu = {0.8, 0.29, 0.1, 0.3, 0.05};
  const std::vector<double> cpu = {0.0, 0.1, 0.29, 0.1, 0.2};
  for (size_t i = 0; i < sweep.size(); ++i) {
    sweep[i].gpu_idle_share = gpu[i];
    sweep[i].cpu_idle_share = cpu[i];
  }
  const auto report = analyze_bound(sweep, {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->balanced_regions.size(), 2u);
  EXPECT_EQ(report->balanced_regions[0].from, 2);
  EXPECT_EQ(report->balanced_regions[0].to, 4);
  EXPECT_EQ(report->balanced_regions[1].from, 16);
  EXPECT_EQ(report->balanced_regions[1].to, 16);
}

std::vector<SweepPoint> latencies(const std::vector<double>& values) {
  std::vector<SweepPoint> sweep;
  double batch = 1;
  for (double value : values) {
    SweepPoint p;
    p.batch = batch;
    p.latency_ns = value;
    sweep.push_back(p);
    batch *= 2;
  }
  return sweep;
}

TEST(Crossover, LiesWhereTheSignFlipsAndStays) {
  // A/B = 1/2, 2, 1/4, 4, 4: the first flip does not stay; log2 ratio -2 at 4, +2 at 8.
  const auto result = find_crossover(latencies({1, 4, 1, 8, 8}), latencies({2, 2, 4, 2, 2}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->found);
  EXPECT_EQ(result->batch, 8);
  EXPECT_EQ(result->previous_batch, 4);
  EXPECT_NEAR(result->interpolated, 4 * std::sqrt(2.0), 1e-12);
  EXPECT_TRUE(result->a_faster_below);
  EXPECT_EQ(result->ratio_by_batch.size(), 5u);
}

TEST(Crossover, AnEqualBatchIsTheCrossing) {
  const auto result = find_crossover(latencies({4, 2, 1}), latencies({2, 2, 2}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->found);
  EXPECT_EQ(result->batch, 2);
  EXPECT_DOUBLE_EQ(result->interpolated, 2);
  EXPECT_FALSE(result->a_faster_below);
}

TEST(Crossover, NoneWhenOneIsAlwaysFaster) {
  const auto result = find_crossover(latencies({1, 1, 1}), latencies({2, 2, 1}));
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->found);
}

TEST(Crossover, UsesOnlyCommonBatchesAndRefusesTooFew) {
  std::vector<SweepPoint> a = latencies({1, 2, 8});
  std::vector<SweepPoint> b = latencies({2, 3, 4});
  b[1].batch = 3;
  const auto result = find_crossover(a, b);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->batch, 4);
  EXPECT_EQ(result->previous_batch, 1);
  b[2].latency_ns.reset();
  EXPECT_FALSE(find_crossover(a, b));
  std::swap(a[0], a[1]);
  EXPECT_FALSE(find_crossover(a, a));
}

}  // namespace
}  // namespace assay
