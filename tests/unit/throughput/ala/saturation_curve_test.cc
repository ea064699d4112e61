#include "throughput/ala/saturation_curve.h"

#include <ceres/ceres.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/stats.h"

namespace assay {
namespace {

struct PublicGroup {
  const char* name;
  std::vector<double> batch;
  std::vector<double> tokens_per_s;
  SaturationCurve expected;  // by another program (SciPy's curve_fit agrees), four digits
};

// Five groups of LLM-Inference-Bench (argonne-lcf, Plots/All_results.csv, BSD-3-Clause).
const std::vector<PublicGroup>& public_groups() {
  static const std::vector<PublicGroup> groups = {
      {"H100 vLLM Llama-3-8B 128",
       {1, 16, 32, 64},
       {257.56262, 3515.6025, 6269.914, 9704.6612},
       {14127, 0.018223, 14115}},
      {"A100 vLLM Mistral-7B 1024",
       {1, 16, 32, 64},
       {143.80241, 1629.8752, 2369.6595, 3303.8538},
       {3678.7, 0.033086, 3722.9}},
      {"MI300X vLLM Qwen2-7B 512",
       {1, 16, 32, 64, 128, 256},
       {251.90165, 2609.8701, 2965.5199, 3421.5368, 3532.6758, 3607.6521},
       {3473.0, 0.076175, 3494.0}},
      {"GH200 TensorRT-LLM Mistral-7B 128",
       {1, 16, 32, 64},
       {371.9272, 4820.8103, 8869.7323, 15306.201},
       {32530, 0.0098847, 32585}},
      {"PVC vLLM Qwen2-7B 256",
       {1, 16, 32, 64},
       {25.510979, 294.19853, 470.96922, 632.67364},
       {719.4, 0.0328, 721.3}},
  };
  return groups;
}

double squares(const SaturationCurve& curve, const PublicGroup& group) {
  double sum = 0;
  for (size_t i = 0; i < group.batch.size(); ++i) {
    const double residual = curve.at(group.batch[i]) - group.tokens_per_s[i];
    sum += residual * residual;
  }
  return sum;
}

TEST(SaturationCurve, FitsOfPublicGroupsAgreeToFourDigits) {
  for (const PublicGroup& group : public_groups()) {
    const SaturationCurve fit = fit_saturation(group.batch, group.tokens_per_s);
    EXPECT_NEAR(fit.a / group.expected.a, 1, 1e-4) << group.name;
    EXPECT_NEAR(fit.b / group.expected.b, 1, 1e-4) << group.name;
    EXPECT_NEAR(fit.c / group.expected.c, 1, 1e-4) << group.name;
  }
}

struct Residual {
  template <typename T>
  bool operator()(const T* p, T* residual) const {
    residual[0] = p[2] - p[0] * exp(-p[1] * batch) - tokens_per_s;
    return true;
  }
  double batch;
  double tokens_per_s;
};

// The published initial values: from the 10th and 90th percentiles, [1, 0.001, 0] for one point.
SaturationCurve saturation_start(const std::vector<double>& batch,
                                 const std::vector<double>& tokens_per_s) {
  if (batch.size() < 2) return {1, 0.001, 0};
  std::vector<double> b = batch;
  std::vector<double> t = tokens_per_s;
  std::sort(b.begin(), b.end());
  std::sort(t.begin(), t.end());
  const double t10 = quantile_sorted(t, 0.1);
  const double t90 = quantile_sorted(t, 0.9);
  const double range = std::max(quantile_sorted(b, 0.9) - quantile_sorted(b, 0.1), 1e-3);
  return {std::max(t90 - t10, 1e-5), 1 / range, std::max(t90, 1e-5)};
}

// The published way: bounded least squares from the published start, by a general solver.
SaturationCurve fit_by_ceres(const PublicGroup& group) {
  const SaturationCurve start = saturation_start(group.batch, group.tokens_per_s);
  double p[3] = {start.a, start.b, start.c};
  ceres::Problem problem;
  for (size_t i = 0; i < group.batch.size(); ++i) {
    problem.AddResidualBlock(new ceres::AutoDiffCostFunction<Residual, 1, 3>(
                                 new Residual{group.batch[i], group.tokens_per_s[i]}),
                             nullptr, p);
  }
  const double low[] = {0, kMinCurveRate, 0};
  const double high[] = {kMaxCurveLevel, kMaxCurveRate, kMaxCurveLevel};
  for (int i = 0; i < 3; ++i) {
    problem.SetParameterLowerBound(p, i, low[i]);
    problem.SetParameterUpperBound(p, i, high[i]);
  }
  ceres::Solver::Options options;
  options.max_num_iterations = 1000;
  options.function_tolerance = options.parameter_tolerance = options.gradient_tolerance = 1e-14;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return {p[0], p[1], p[2]};
}

TEST(SaturationCurve, AGeneralSolverFromThePublishedStartAgrees) {
  for (const PublicGroup& group : public_groups()) {
    const SaturationCurve ours = fit_saturation(group.batch, group.tokens_per_s);
    const SaturationCurve theirs = fit_by_ceres(group);
    EXPECT_NEAR(ours.a / theirs.a, 1, 1e-4) << group.name;
    EXPECT_NEAR(ours.b / theirs.b, 1, 1e-4) << group.name;
    EXPECT_NEAR(ours.c / theirs.c, 1, 1e-4) << group.name;
  }
}

TEST(SaturationCurve, NoOtherCurveWithinTheBoundsFitsBetter) {
  SplitMix64 random(7);
  for (const PublicGroup& group : public_groups()) {
    const SaturationCurve fit = fit_saturation(group.batch, group.tokens_per_s);
    const double least = squares(fit, group);
    for (int i = 0; i < 2000; ++i) {
      const SaturationCurve other{fit.a * random.uniform(0.5, 1.5),
                                  fit.b * random.uniform(0.5, 1.5),
                                  fit.c * random.uniform(0.5, 1.5)};
      EXPECT_GE(squares(other, group), least * (1 - 1e-9)) << group.name;
    }
  }
}

TEST(SaturationCurve, BoundsHoldAndFallingThroughputIsAConstant) {
  const SaturationCurve falling = fit_saturation({1, 16, 32}, {300, 200, 100});
  EXPECT_EQ(falling.a, 0);
  EXPECT_NEAR(falling.c, 200, 1e-9);
  const SaturationCurve single = fit_saturation({16}, {123});
  EXPECT_EQ(single.a, 0);
  EXPECT_EQ(single.c, 123);
  EXPECT_NEAR(single.b, kMinCurveRate, 1e-18);
  const SaturationCurve huge = fit_saturation({1, 2, 3}, {1e7, 2e7, 3e7});
  EXPECT_LE(huge.c, kMaxCurveLevel);
  EXPECT_LE(huge.a, kMaxCurveLevel);
}

TEST(SaturationCurve, KnownCurvesAreFoundAgain) {
  SplitMix64 random(3);
  for (int i = 0; i < 50; ++i) {
    const SaturationCurve truth{random.uniform(100, 30000), random.uniform(0.005, 0.2),
                                random.uniform(30000, 60000)};
    std::vector<double> batch = {1, 8, 16, 32, 64, 128};
    std::vector<double> values;
    for (const double b : batch) values.push_back(truth.at(b));
    for (const CurveWeights weights : {CurveWeights::kAbsolute, CurveWeights::kRelative}) {
      const SaturationCurve fit = fit_saturation(batch, values, weights);
      EXPECT_NEAR(fit.a / truth.a, 1, 1e-4);
      EXPECT_NEAR(fit.b / truth.b, 1, 1e-4);
      EXPECT_NEAR(fit.c / truth.c, 1, 1e-4);
    }
  }
}

// Percentiles by hand: of 1, 16, 32, 64 the 10th is 1 + 0.3 x 15 = 5.5, the 90th 32 + 0.7 x 32 =
// 54.4; of 10, 20, 30, 40 they are 13 and 37.
TEST(SaturationCurve, TheStartIsThePublishedOne) {
  const SaturationCurve start = saturation_start({1, 16, 32, 64}, {10, 20, 30, 40});
  EXPECT_NEAR(start.a, 24, 1e-12);
  EXPECT_NEAR(start.b, 1 / 48.9, 1e-12);
  EXPECT_NEAR(start.c, 37, 1e-12);
  const SaturationCurve single = saturation_start({16}, {10});
  EXPECT_EQ(single.a, 1);
  EXPECT_EQ(single.b, 0.001);
  EXPECT_EQ(single.c, 0);
}

}  // namespace
}  // namespace assay
