#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/random.h"
#include "throughput/gp/gp.h"

namespace assay {
namespace {

// A value that grows with the first input and wavers with the second, with some noise.
struct SmoothData {
  std::vector<KernelPoint> points;
  std::vector<double> y;
};
SmoothData smooth_data(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  SmoothData data;
  for (size_t i = 0; i < n; ++i) {
    KernelPoint point;
    point.in_len = std::floor(8 * unit_of(random));
    point.out_len = std::floor(8 * unit_of(random));
    point.x[static_cast<size_t>(KernelDim::kBatch)] = std::floor(7 * unit_of(random));
    point.id[static_cast<size_t>(KernelGroup::kConfig)] = static_cast<uint32_t>(random() % 4);
    data.y.push_back(0.3 * point.x[static_cast<size_t>(KernelDim::kBatch)] +
                     0.2 * std::sin(point.in_len) + 0.05 * (unit_of(random) - 0.5));
    data.points.push_back(point);
  }
  return data;
}

TEST(ParameterSearch, StopsWhenAskedWithThePointThatItHas) {
  const KernelSpec& spec = plain_kernel();
  const SmoothData data = smooth_data(30, 4);
  std::vector<double> told;
  GpSearch search;
  search.progress = [&told](int iteration, double objective) {
    EXPECT_EQ(iteration, static_cast<int>(told.size()));
    told.push_back(objective);
    return told.size() < 3;
  };
  const auto found = find_parameters(spec, spec.prior, data.points, data.y, search);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(found->iterations, 2);  // the start is told as well
  EXPECT_EQ(found->objective, told.back());
  EXPECT_LT(told[2], told[0]);
}

TEST(ParameterSearch, TakesNoMoreStepsThanAllowed) {
  const KernelSpec& spec = plain_kernel();
  const SmoothData data = smooth_data(30, 5);
  const auto found = find_parameters(spec, spec.prior, data.points, data.y, {.max_iterations = 2});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->iterations, 2);
}

TEST(ParameterSearch, AStartThatHasNoPosteriorIsAnError) {
  const KernelSpec& spec = plain_kernel();
  SmoothData data = smooth_data(30, 6);
  data.y[3] = std::nan("");
  EXPECT_FALSE(find_parameters(spec, spec.prior, data.points, data.y));
}

}  // namespace
}  // namespace assay
