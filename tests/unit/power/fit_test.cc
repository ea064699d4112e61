#include "power/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/power_maker.h"

namespace assay {
namespace {

using testing::normal_draw;
using testing::unit_draw;

double quartic(double x) {
  return 300 + 120 * x - 80 * x * x + 45 * x * x * x - 30 * x * x * x * x;
}

// Spec/power 6, vector 7: residual under 1e-9 relative.
TEST(Fit, ExactQuarticIsFoundAgain) {
  std::vector<LoiPoint> points;
  for (uint32_t i = 0; i < 50; ++i) {
    const double x = i / 49.0;
    points.push_back({x * 200'000, quartic(x), i});
  }
  ASSERT_EQ(supported_degree(points, 200'000), 4u);
  const CurveFit fit = fit_curve(points, 200'000, 4);
  for (double x = 0; x <= 1; x += 0.05) {
    EXPECT_NEAR(fit.at(x * 200'000) / quartic(x), 1, 1e-9);
  }
  EXPECT_LT(fit.residual_w, 1e-7);
  // 300 + 120/2 - 80/3 + 45/4 - 30/5
  EXPECT_NEAR(fit.mean(), 338.58333333333331, 1e-9);
  const CurveBand band = bootstrap_band(points, fit, {0, 100'000}, 100, 1);
  EXPECT_NEAR(band.mean.low, band.mean.high, 1e-6);
}

TEST(Fit, DegreeFallsWithTheNumberOfPoints) {
  const auto even = [](size_t n) {
    std::vector<LoiPoint> points;
    for (size_t i = 0; i < n; ++i) {
      points.push_back({(static_cast<double>(i) + 0.5) / static_cast<double>(n), 1, 0});
    }
    return points;
  };
  EXPECT_EQ(supported_degree(even(10), 1), 4u);
  EXPECT_EQ(supported_degree(even(9), 1), 3u);
  EXPECT_EQ(supported_degree(even(6), 1), 2u);
  EXPECT_EQ(supported_degree(even(4), 1), 1u);
  EXPECT_EQ(supported_degree(even(3), 1), 0u);
  EXPECT_EQ(supported_degree(even(1), 1), 0u);
}

TEST(Fit, DistinctTimesAndHolesLimitTheDegree) {
  std::vector<LoiPoint> points;
  for (int i = 0; i < 20; ++i) points.push_back({0.05 + 0.3 * (i % 4), 1, 0});
  EXPECT_EQ(supported_degree(points, 1), 3u);  // four distinct times
  points.clear();
  for (int i = 0; i < 20; ++i) points.push_back({0.02 * i, 1, 0});
  EXPECT_LE(supported_degree(points, 1), 1u);  // nothing beyond 0.38
}

// Coverage of the 95 % band over many data sets: few points, many, several per run with a common
// offset. The truth is a cubic, so the fit has no error of form. 600 sets: 95 % +- 1.8 % (2 sigma).
struct CoverageCase {
  int runs;
  int per_run;
  double offset_w;
  double lowest;
};
class Coverage : public ::testing::TestWithParam<CoverageCase> {};

TEST_P(Coverage, TheIntervalOfTheMeanIsNinetyFivePercent) {
  const CoverageCase c = GetParam();
  std::mt19937_64 random(7);
  int hits = 0;
  constexpr int kSets = 600;
  for (int set = 0; set < kSets; ++set) {
    std::vector<LoiPoint> points;
    for (int run = 0; run < c.runs; ++run) {
      const double offset = c.offset_w * normal_draw(random);
      for (int i = 0; i < c.per_run; ++i) {
        const double x = unit_draw(random);
        const double power = 400 + 50 * x - 80 * x * x + 30 * x * x * x;
        points.push_back({x, power + offset + 5 * normal_draw(random), uint32_t(run)});
      }
    }
    const CurveFit fit = fit_curve(points, 1, supported_degree(points, 1));
    const CurveBand band = bootstrap_band(points, fit, {}, 400, static_cast<uint64_t>(set));
    const double truth = 400 + 50 / 2.0 - 80 / 3.0 + 30 / 4.0;
    hits += band.mean.low <= truth && truth <= band.mean.high;
  }
  EXPECT_GE(hits / double(kSets), c.lowest);
  EXPECT_LE(hits / double(kSets), 0.97);
}

INSTANTIATE_TEST_SUITE_P(Bootstrap, Coverage,
                         ::testing::Values(CoverageCase{10, 1, 0, 0.93},
                                           CoverageCase{20, 1, 0, 0.93},
                                           CoverageCase{60, 1, 0, 0.93},
                                           CoverageCase{30, 4, 0, 0.92},
                                           CoverageCase{30, 4, 5, 0.93}));

TEST(Fit, BandIsTheSameForTheSameSeed) {
  std::vector<LoiPoint> points;
  std::mt19937_64 random(3);
  for (uint32_t i = 0; i < 30; ++i) points.push_back({unit_draw(random), unit_draw(random), i});
  const CurveFit fit = fit_curve(points, 1, 4);
  const CurveBand a = bootstrap_band(points, fit, {0.5}, 200, 5);
  const CurveBand b = bootstrap_band(points, fit, {0.5}, 200, 5);
  EXPECT_EQ(a.mean.low, b.mean.low);
  EXPECT_EQ(a.at[0].high, b.at[0].high);
}

TEST(Fit, TooFewRunsGiveNoBand) {
  std::vector<LoiPoint> points = {{0.1, 1, 0}, {0.5, 2, 0}, {0.9, 3, 1}};
  const CurveBand band = bootstrap_band(points, fit_curve(points, 1, 0), {0.5}, 100, 1);
  EXPECT_TRUE(std::isnan(band.mean.low));
}

}  // namespace
}  // namespace assay
