#include "throughput/gp/gp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "base/stats.h"
#include "support/random.h"

namespace assay {
namespace {

std::vector<KernelPoint> some_points(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<KernelPoint> points(n);
  for (KernelPoint& point : points) {
    point.in_len = std::floor(4 * unit_of(random));
    point.out_len = point.in_len + std::floor(2 * unit_of(random));
    for (double& x : point.x) x = std::floor(3 * unit_of(random));
    for (double& share : point.share) share = unit_of(random) / 5;
    for (uint32_t& id : point.id) id = static_cast<uint32_t>(random() % 3);
    point.id[static_cast<size_t>(KernelGroup::kAll)] = 0;
  }
  return points;
}

std::vector<double> some_values(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> y(n);
  for (double& value : y) value = unit_of(random) - 0.5;
  return y;
}

TEST(Kernel, ByHandForTwoPointsOfDifferentFrameworks) {
  // One component over lengths and batch, one constant within a framework.
  KernelSpec spec;
  spec.components = {
      {"G", KernelForm::kRbf, KernelGroup::kAll, {KernelDim::kLength, KernelDim::kBatch}},
      {"F", KernelForm::kRbf, KernelGroup::kFramework, {}},
      {"S", KernelForm::kShares, KernelGroup::kAll, {}}};
  const std::vector<double> parameters = {2, 3, 4, 0.5, 0.1, 0.01};
  KernelPoint a, b;
  a.in_len = 1;
  b.out_len = 2;
  b.x[static_cast<size_t>(KernelDim::kBatch)] = 3;
  a.share[0] = 0.5;
  b.share[0] = 0.4;
  b.id[static_cast<size_t>(KernelGroup::kFramework)] = 1;
  double k = 0;
  kernel_matrix(spec, parameters, {a}, {b}, &k);
  // Lengths are (1 + 4) / 2 = 2.5 apart, batches 9.
  EXPECT_NEAR(k, 4 * std::exp(-2.5 / 18 - 9.0 / 32) + 0.01 * 0.2, 1e-15);
  EXPECT_NEAR(kernel_variance(spec, parameters, a), 4 + 0.25 + 0.01 * 0.25, 1e-15);
}

TEST(Kernel, IsSymmetricAndPositiveSemidefinite) {
  const std::vector<KernelPoint> points = some_points(40, 3);
  for (const KernelSpec* spec : {&physics_kernel(), &plain_kernel()}) {
    std::vector<double> k(points.size() * points.size());
    kernel_matrix(*spec, spec->defaults, points, points, k.data());
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<double> v(points.size());
      for (double& x : v) x = unit_of(random) - 0.5;
      double form = 0;
      for (size_t i = 0; i < v.size(); ++i) {
        EXPECT_NEAR(k[i * v.size() + i], kernel_variance(*spec, spec->defaults, points[i]), 1e-12);
        for (size_t j = 0; j < v.size(); ++j) {
          EXPECT_EQ(k[i * v.size() + j], k[j * v.size() + i]);
          form += v[i] * k[i * v.size() + j] * v[j];
        }
      }
      EXPECT_GE(form, -1e-9);
    }
  }
}

TEST(Kernel, OnAndBelowTheDiagonalIsTheSameAlone) {
  const KernelSpec& spec = plain_kernel();
  // Four batches of each: neighbours that share all else are worked out together.
  std::vector<KernelPoint> points;
  for (KernelPoint point : some_points(10, 3)) {
    for (const double batch : {0, 1, 2, 3}) {
      point.x[static_cast<size_t>(KernelDim::kBatch)] = batch;
      points.push_back(point);
    }
  }
  std::vector<double> whole(points.size() * points.size());
  std::vector<double> lower(whole.size(), -1);
  kernel_matrix(spec, spec.defaults, points, points, whole.data());
  kernel_lower(spec, spec.defaults, points, lower.data());
  for (size_t j = 0; j < points.size(); ++j) {
    for (size_t i = 0; i < points.size(); ++i) {
      const size_t at = j * points.size() + i;
      EXPECT_EQ(lower[at], i < j ? -1 : whole[at]);
    }
  }
}

TEST(GaussianProcess, OnePointByHand) {
  // Prior variance 4, noise 1: far away the prior; at the point 4 - 4^2 / 5 (R&W 2.26).
  KernelSpec spec;
  spec.components = {{"G", KernelForm::kRbf, KernelGroup::kAll, {KernelDim::kBatch}}};
  spec.names = {"G.s", "G.B", "noise"};
  KernelPoint here, far;
  far.x[static_cast<size_t>(KernelDim::kBatch)] = 100;
  const auto gp = GaussianProcess::fit(spec, {2, 1, 1}, {here}, {3});
  ASSERT_TRUE(gp);
  const std::vector<GpAnswer> answers = gp->predict({here, far});
  EXPECT_NEAR(answers[0].mean, 3, 1e-12);
  EXPECT_NEAR(answers[0].sd, std::sqrt(0.8 + 1), 1e-6);
  EXPECT_NEAR(answers[1].sd, std::sqrt(5), 1e-6);
}

TEST(GaussianProcess, LeavingOutInClosedFormEqualsFittingAnew) {
  const KernelSpec& spec = physics_kernel();
  const std::vector<KernelPoint> points = some_points(30, 7);
  std::vector<double> y = some_values(30, 8);
  // So many zeros that the median of every part is 0: the prior's mean stays where it is.
  for (size_t i = 0; i < 30; i += 2) y[i] = 0;
  std::vector<uint32_t> block(30);
  for (size_t i = 0; i < 30; ++i) block[i] = static_cast<uint32_t>(i / 4);
  const auto gp = GaussianProcess::fit(spec, spec.defaults, points, y);
  ASSERT_TRUE(gp);
  const std::vector<GpAnswer> closed = gp->leave_out(block);
  for (uint32_t b = 0; b <= block.back(); ++b) {
    std::vector<KernelPoint> rest, out;
    std::vector<double> rest_y;
    std::vector<size_t> which;
    for (size_t i = 0; i < 30; ++i) {
      if (block[i] == b) {
        out.push_back(points[i]);
        which.push_back(i);
      } else {
        rest.push_back(points[i]);
        rest_y.push_back(y[i]);
      }
    }
    const auto anew = GaussianProcess::fit(spec, spec.defaults, rest, rest_y);
    ASSERT_TRUE(anew);
    const std::vector<GpAnswer> answers = anew->predict(out);
    for (size_t k = 0; k < which.size(); ++k) {
      EXPECT_NEAR(closed[which[k]].sd, answers[k].sd, 1e-3 * answers[k].sd);
      EXPECT_NEAR(closed[which[k]].mean, y[which[k]] - answers[k].mean, 1e-8);
    }
  }
}

// Of points that were never seen, too; the centre stays that of all rows, so it is added to the
// others until their median is the same.
TEST(GaussianProcess, MeansWithoutSomePointsEqualFittingAnew) {
  const std::vector<KernelPoint> points = some_points(30, 5);
  std::vector<double> y = some_values(30, 6);
  const std::vector<size_t> members = {20, 3, 4, 29, 11};
  std::vector<KernelPoint> others;
  std::vector<double> others_y;
  const std::set<size_t> left_out(members.begin(), members.end());
  for (size_t i = 0; i < points.size(); ++i) {
    if (left_out.count(i) > 0) continue;
    others.push_back(points[i]);
    others_y.push_back(y[i]);
  }
  const double shift = median(others_y);
  // Twice the values that are left out, far apart: the median of all is then that of the others.
  for (size_t k = 0; k < members.size(); ++k) y[members[k]] = shift + (k % 2 == 0 ? 5.0 : -5.0);
  y[members.back()] = shift;
  const KernelSpec& spec = physics_kernel();
  const auto all = GaussianProcess::fit(spec, spec.defaults, points, y);
  const auto some = GaussianProcess::fit(spec, spec.defaults, others, others_y);
  ASSERT_TRUE(all && some);
  ASSERT_EQ(median(y), shift);
  const std::vector<KernelPoint> asked = some_points(9, 7);
  const std::vector<double> without = all->means_without(members, asked);
  const std::vector<GpAnswer> anew = some->predict_exactly(asked);
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_NEAR(without[i], anew[i].mean, 1e-8);
}

TEST(GaussianProcess, TheGradientIsTheSlope) {
  for (const KernelSpec* spec : {&physics_kernel(), &plain_kernel()}) {
    const std::vector<KernelPoint> points = some_points(25, 11);
    const std::vector<double> y = some_values(25, 12);
    std::vector<double> gradient;
    ASSERT_TRUE(negative_log_posterior(*spec, spec->prior, points, y, &gradient));
    for (size_t p = 0; p < spec->prior.size(); ++p) {
      constexpr double kStep = 1e-4;
      std::vector<double> up = spec->prior, down = spec->prior;
      up[p] *= std::exp(kStep);
      down[p] *= std::exp(-kStep);
      const double slope = (*negative_log_posterior(*spec, up, points, y, nullptr) -
                            *negative_log_posterior(*spec, down, points, y, nullptr)) /
                           (2 * kStep);
      EXPECT_NEAR(gradient[p], slope, 1e-4 * (1 + std::abs(slope))) << spec->names[p];
    }
  }
}

TEST(GaussianProcess, TheSearchImprovesOnItsStart) {
  const KernelSpec& spec = plain_kernel();
  const std::vector<KernelPoint> points = some_points(25, 13);
  const std::vector<double> y = some_values(25, 14);
  const double start = *negative_log_posterior(spec, spec.prior, points, y, nullptr);
  const auto found = find_parameters(spec, spec.prior, points, y, {.max_iterations = 10});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_LT(found->objective, start);
  for (const double p : found->parameters) EXPECT_GT(p, 0);
}

// One configuration over many lengths and batch sizes, of two others' ids.
std::vector<KernelPoint> alike_questions(size_t n, uint64_t seed, const KernelPoint& like) {
  std::mt19937_64 random(seed);
  std::vector<KernelPoint> points(n, like);
  for (KernelPoint& point : points) {
    point.in_len = 4 * unit_of(random);
    point.out_len = point.in_len + unit_of(random);
    point.x[static_cast<size_t>(KernelDim::kBatch)] = 3 * unit_of(random);
    point.x[static_cast<size_t>(KernelDim::kOverflow)] = std::max(0.0, 2 * unit_of(random) - 1);
    for (double& share : point.share) share = unit_of(random) / 5;
  }
  return points;
}

// How far answers are apart, as kGpTolerance counts.
double apart(const std::vector<GpAnswer>& a, const std::vector<GpAnswer>& b) {
  double most = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max({most, std::abs(a[i].mean - b[i].mean), std::abs(a[i].sd / b[i].sd - 1)});
  return most;
}

TEST(GaussianProcess, ManyAlikePointsAreAnsweredAsOneByOneWithinTheTolerance) {
  for (const KernelSpec* spec : {&physics_kernel(), &plain_kernel()}) {
    for (uint64_t seed = 21; seed < 24; ++seed) {
      const std::vector<KernelPoint> known = some_points(300, seed);
      const auto gp = GaussianProcess::fit(*spec, spec->defaults, known, some_values(300, seed));
      ASSERT_TRUE(gp);
      std::vector<KernelPoint> asked = alike_questions(900, seed, known[7]);
      const std::vector<KernelPoint> others = alike_questions(700, seed + 9, known[8]);
      asked.insert(asked.begin() + 100, others.begin(), others.end());
      const std::vector<GpAnswer> exact = gp->predict_exactly(asked);
      const std::vector<GpAnswer> fast = gp->predict(asked);
      EXPECT_LE(apart(fast, exact), kGpTolerance);
      EXPECT_GT(apart(fast, exact), 0) << "was answered exactly: tests nothing";
      EXPECT_EQ(apart(gp->predict(asked), fast), 0);
    }
  }
}

TEST(GaussianProcess, AnswerIsExactIfTheToleranceCannotHold) {
  // With next to no noise the bound asks for more digits than there are.
  std::vector<double> parameters = plain_kernel().defaults;
  parameters.back() = 1e-6;
  const std::vector<KernelPoint> known = some_points(200, 31);
  const auto gp = GaussianProcess::fit(plain_kernel(), parameters, known, some_values(200, 31));
  ASSERT_TRUE(gp);
  const std::vector<KernelPoint> asked = alike_questions(300, 32, known[0]);
  EXPECT_LE(apart(gp->predict(asked), gp->predict_exactly(asked)), kGpTolerance);
}

TEST(GaussianProcess, FewPointsAreAnsweredExactly) {
  const KernelSpec& spec = physics_kernel();
  const std::vector<KernelPoint> known = some_points(100, 41);
  const auto gp = GaussianProcess::fit(spec, spec.defaults, known, some_values(100, 41));
  ASSERT_TRUE(gp);
  const std::vector<KernelPoint> asked = alike_questions(200, 42, known[0]);
  EXPECT_EQ(apart(gp->predict(asked), gp->predict_exactly(asked)), 0);
}

TEST(GaussianProcess, NothingToLearnFromIsAnError) {
  const KernelSpec& spec = plain_kernel();
  EXPECT_FALSE(GaussianProcess::fit(spec, spec.defaults, {}, {}));
}

}  // namespace
}  // namespace assay
