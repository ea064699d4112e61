#include "throughput/gp/gp_digest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/stats.h"
#include "support/random.h"
#include "throughput/gp/gp.h"

namespace assay {
namespace {

// A configuration: everything but lengths, batch and what follows from them is fixed.
KernelPoint of_config(uint32_t config, double length, double batch) {
  KernelPoint point;
  point.in_len = point.out_len = length;
  point.x[static_cast<size_t>(KernelDim::kBatch)] = batch;
  point.x[static_cast<size_t>(KernelDim::kActive)] = 0.5 * config;
  point.x[static_cast<size_t>(KernelDim::kOverflow)] = std::max(0.0, batch + length - 5);
  point.share[0] = 1 / (1 + std::exp2(batch - 3));
  point.share[1] = 1 - point.share[0];
  point.id[static_cast<size_t>(KernelGroup::kModel)] = config;
  point.id[static_cast<size_t>(KernelGroup::kModelFramework)] = config;
  point.id[static_cast<size_t>(KernelGroup::kConfig)] = config;
  return point;
}

struct Case {
  std::vector<KernelPoint> data;
  std::vector<double> y;
  std::vector<KernelPoint> candidates;  // of configuration 3
};

Case a_case() {
  Case made;
  std::mt19937_64 random(4);
  for (uint32_t config = 0; config < 12; ++config) {
    for (int length = -2; length <= 2; ++length) {
      for (int batch = -3; batch <= 3; batch += 2) {
        made.data.push_back(of_config(config, length, batch));
        made.y.push_back(std::sin(0.3 * length + 0.2 * batch * config) + 0.01 * unit_of(random));
      }
    }
  }
  for (double length = -3; length <= 3; length += 0.25) {
    for (double batch = -3; batch <= 5; batch += 0.25)
      made.candidates.push_back(of_config(3, length, batch));
  }
  return made;
}

std::vector<KernelPoint> pivots_of(const GpDigest& digest, const Case& made) {
  std::vector<KernelPoint> pivots;
  for (const size_t pivot : digest.pivots) pivots.push_back(made.candidates[pivot]);
  return pivots;
}

TEST(GpDigest, AnswersAsTheProcessDoesBetweenItsCandidates) {
  const Case made = a_case();
  const KernelSpec& spec = physics_kernel();
  const auto gp = GaussianProcess::fit(spec, spec.defaults, made.data, made.y);
  ASSERT_TRUE(gp);
  const auto digest = gp->digest(made.candidates);
  ASSERT_TRUE(digest);
  EXPECT_LT(digest->columns.size(), made.data.size());
  const std::vector<KernelPoint> pivots = pivots_of(*digest, made);
  const DigestReader reader(spec, spec.defaults, made.data, median(made.y), *digest, pivots);
  std::mt19937_64 random(9);
  std::vector<KernelPoint> asked;
  for (int i = 0; i < 200; ++i)
    asked.push_back(of_config(3, 6 * unit_of(random) - 3, 8 * unit_of(random) - 3));
  const auto answers = reader.predict(asked);
  const std::vector<GpAnswer> exact = gp->predict_exactly(asked);
  size_t answered = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!answers[i]) continue;
    ++answered;
    EXPECT_NEAR(answers[i]->mean, exact[i].mean, 1e-7) << i;
    EXPECT_NEAR(answers[i]->sd, exact[i].sd, 1e-7 * exact[i].sd) << i;
  }
  EXPECT_GT(answered, 180U);
}

TEST(GpDigest, BeyondItsCandidatesItSaysNothingOrTheTruth) {
  const Case made = a_case();
  const KernelSpec& spec = physics_kernel();
  const auto gp = GaussianProcess::fit(spec, spec.defaults, made.data, made.y);
  ASSERT_TRUE(gp);
  const auto digest = gp->digest(made.candidates);
  ASSERT_TRUE(digest);
  const std::vector<KernelPoint> pivots = pivots_of(*digest, made);
  const DigestReader reader(spec, spec.defaults, made.data, median(made.y), *digest, pivots);
  std::mt19937_64 random(17);
  size_t refused = 0;
  for (int i = 0; i < 200; ++i) {
    KernelPoint far = of_config(3, 16 * unit_of(random) - 8, 16 * unit_of(random) - 8);
    if (i % 2 == 0) far.in_len += 4 * unit_of(random);
    const auto answer = reader.predict({far}).front();
    const GpAnswer exact = gp->predict_exactly({far}).front();
    refused += answer ? 0 : 1;
    if (!answer) continue;
    EXPECT_NEAR(answer->mean, exact.mean, 1e-6);
    EXPECT_NEAR(answer->sd, exact.sd, 1e-6 * exact.sd);
  }
  EXPECT_GT(refused, 50U);
  EXPECT_FALSE(reader.predict({of_config(5, 0, 0)}).front());
}

}  // namespace
}  // namespace assay
