#include "power/smooth_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/random.h"

namespace assay {
namespace {

constexpr double kSpanNs = 1e6;

// A kernel of power steps run back to back, seen through a boxcar: by the integral of its steps.
class SteppedKernel {
 public:
  SteppedKernel(SplitMix64& random, double window_share, int phases) : window_(window_share) {
    edges_ = {0};
    for (int i = 1; i < phases; ++i) edges_.push_back(random.uniform(0.1, 0.9));
    std::sort(edges_.begin(), edges_.end());
    edges_.push_back(1);
    sums_ = {0};
    for (int i = 0; i < phases; ++i) {
      const double level = random.uniform(0.6, 1.2) * 500;
      const auto at = static_cast<size_t>(i);
      sums_.push_back(sums_.back() + level * (edges_[at + 1] - edges_[at]));
    }
  }
  double at(double toi_ns) const {
    const double x = toi_ns / kSpanNs;
    return (integral(x) - integral(x - window_)) / window_;
  }

 private:
  double integral(double x) const {
    const double rounds = std::floor(x);
    const double in = x - rounds;
    const auto next = std::upper_bound(edges_.begin() + 1, edges_.end() - 1, in);
    const auto i = static_cast<size_t>(next - edges_.begin());
    const double part = (in - edges_[i - 1]) / (edges_[i] - edges_[i - 1]);
    return rounds * sums_.back() + sums_[i - 1] + part * (sums_[i] - sums_[i - 1]);
  }
  double window_;
  std::vector<double> edges_;
  std::vector<double> sums_;
};

std::vector<double> even_grid() {
  std::vector<double> grid;
  for (int i = 0; i <= 40; ++i) grid.push_back(kSpanNs * i / 40);
  return grid;
}

struct Scene {
  double window_share;
  int phases;
  size_t lois;
  double noise;
};

std::vector<LoiPoint> lois_of(const SteppedKernel& kernel, const Scene& scene, SplitMix64& random) {
  std::vector<LoiPoint> points;
  for (size_t i = 0; i < scene.lois; ++i) {
    const double toi = random.uniform(0, kSpanNs);
    const double watts = kernel.at(toi) * (1 + scene.noise * random.normal());
    points.push_back({toi, watts, static_cast<uint32_t>(i)});
  }
  return points;
}

class BandOfSteps : public ::testing::TestWithParam<Scene> {};

// The true curve itself, not what a polynomial can show of it.
TEST_P(BandOfSteps, HoldsTheTrueCurve) {
  const Scene scene = GetParam();
  const std::vector<double> grid = even_grid();
  constexpr int kKernels = 200;
  double inside = 0;
  double quartic_inside = 0;
  for (uint64_t seed = 5000; seed < 5000 + kKernels; ++seed) {
    SplitMix64 random(seed);
    const SteppedKernel kernel(random, scene.window_share, scene.phases);
    const std::vector<LoiPoint> points = lois_of(kernel, scene, random);
    const SmoothCurve curve = smooth_curve(points, kSpanNs, scene.window_share * kSpanNs, grid);
    const CurveFit quartic = fit_curve(points, kSpanNs, 4);
    const CurveBand around = bootstrap_band(points, quartic, grid, 60, seed);
    for (size_t i = 0; i < grid.size(); ++i) {
      const double truth = kernel.at(grid[i]);
      inside += curve.band[i].low <= truth && truth <= curve.band[i].high ? 1 : 0;
      quartic_inside += around.at[i].low <= truth && truth <= around.at[i].high ? 1 : 0;
    }
  }
  const double all = static_cast<double>(kKernels) * static_cast<double>(grid.size());
  RecordProperty("spline", std::to_string(inside / all));
  RecordProperty("quartic", std::to_string(quartic_inside / all));
  EXPECT_GT(inside / all, 0.92) << "a quartic's: " << quartic_inside / all;
  EXPECT_LT(inside / all, 0.985);
  EXPECT_GT(inside, quartic_inside);
}

INSTANTIATE_TEST_SUITE_P(Scenes, BandOfSteps,
                         ::testing::Values(Scene{0.05, 4, 400, 0.004}, Scene{0.1, 3, 200, 0.004},
                                           Scene{0.33, 2, 200, 0.004}, Scene{0.33, 3, 60, 0.004},
                                           Scene{1.5, 2, 60, 0.004}, Scene{3.3, 2, 60, 0.004}));

// A straight line in the middle of even points is found, whatever the penalty.
TEST(SmoothCurve, AStraightLineIsOne) {
  std::vector<LoiPoint> points;
  SplitMix64 random(2);
  for (uint32_t i = 0; i < 200; ++i) {
    const double toi = kSpanNs * (i + 0.5) / 200;
    points.push_back({toi, 300 + 100 * toi / kSpanNs + random.normal(), i});
  }
  const SmoothCurve curve = smooth_curve(points, kSpanNs, 0.2 * kSpanNs, even_grid());
  for (size_t i = 4; i < 37; ++i) {
    EXPECT_NEAR(curve.power_w[i], 300 + 100 * static_cast<double>(i) / 40, 2) << i;
  }
  EXPECT_NEAR(curve.residual_w, 1, 0.2);
}

// What the points of a run have in common does not average out over its points.
TEST(SmoothCurve, RunsThatDifferWidenTheBand) {
  SplitMix64 random(3);
  std::vector<LoiPoint> alike;
  std::vector<LoiPoint> apart;
  for (uint32_t run = 0; run < 8; ++run) {
    const double offset = 10 * random.normal();
    for (int i = 0; i < 25; ++i) {
      const double toi = random.uniform(0, kSpanNs);
      const double watts = 400 + random.normal();
      alike.push_back({toi, watts, run});
      apart.push_back({toi, watts + offset, run});
    }
  }
  const auto width = [](const std::vector<LoiPoint>& points) {
    const Interval95 band = smooth_curve(points, kSpanNs, kSpanNs, {kSpanNs / 2}).band.front();
    return band.high - band.low;
  };
  EXPECT_LT(width(alike), 2);
  EXPECT_GT(width(apart), 2 * 1.96 * 10 / std::sqrt(8.0) * 0.5);
}

}  // namespace
}  // namespace assay
