#include "throughput/gp/cross_approximation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

KernelSpec smooth_over_batch() {
  KernelSpec spec;
  spec.components = {{"G", KernelForm::kRbf, KernelGroup::kAll, {KernelDim::kBatch}},
                     {"C", KernelForm::kRbf, KernelGroup::kConfig, {KernelDim::kBatch}}};
  spec.names = {"G.s", "G.B", "C.s", "C.B", "noise"};
  return spec;
}

// Batches 0 to 4 in `n` steps, in configuration `config`.
std::vector<KernelPoint> line(size_t n, uint32_t config) {
  std::vector<KernelPoint> points(n);
  for (size_t i = 0; i < n; ++i) {
    points[i].x[static_cast<size_t>(KernelDim::kBatch)] =
        4 * static_cast<double>(i) / static_cast<double>(n);
    points[i].id[static_cast<size_t>(KernelGroup::kConfig)] = config;
  }
  return points;
}

double most_lacking(const CrossKernel& kernel, const CrossApproximation& cross) {
  double most = 0;
  std::vector<double> row(kernel.columns());
  for (size_t i = 0; i < kernel.rows(); ++i) {
    kernel.row(i, row.data());
    double sum = 0;
    for (size_t j = 0; j < kernel.columns(); ++j) {
      double left = row[j];
      for (size_t k = 0; k < cross.rank; ++k)
        left -= cross.left[k * kernel.rows() + i] * cross.right[k * kernel.columns() + j];
      sum += left * left;
    }
    most = std::max(most, std::sqrt(sum));
  }
  return most;
}

TEST(CrossApproximation, ASmoothKernelTakesFewTerms) {
  const std::vector<KernelPoint> a = line(500, 1), b = line(60, 1);
  const KernelSpec spec = smooth_over_batch();
  const CrossKernel kernel(spec, {1, 3, 0.1, 2, 0.01}, a, b);
  const CrossApproximation cross = cross_approximation(kernel, 1e-9, 60);
  EXPECT_TRUE(cross.converged);
  EXPECT_LT(cross.rank, 25U);
  EXPECT_LT(most_lacking(kernel, cross), 1e-8);
}

TEST(CrossApproximation, RowsThatThePivotsNeverMeetAreFound) {
  // Two halves that have nothing in common: pivots of one never lead to the other.
  KernelSpec spec;
  spec.components = {{"C", KernelForm::kRbf, KernelGroup::kConfig, {KernelDim::kBatch}}};
  std::vector<KernelPoint> a = line(300, 1), b = line(30, 1);
  for (const KernelPoint& point : line(300, 2)) a.push_back(point);
  for (const KernelPoint& point : line(30, 2)) b.push_back(point);
  const CrossKernel kernel(spec, {1, 2, 0.01}, a, b);
  const CrossApproximation cross = cross_approximation(kernel, 1e-9, 60);
  EXPECT_TRUE(cross.converged);
  EXPECT_LT(most_lacking(kernel, cross), 1e-8);
}

TEST(CrossApproximation, ARankThatDoesNotSufficeIsSaid) {
  const std::vector<KernelPoint> a = line(500, 1), b = line(60, 1);
  const KernelSpec spec = smooth_over_batch();
  const CrossKernel kernel(spec, {1, 3, 0.1, 2, 0.01}, a, b);
  const CrossApproximation cross = cross_approximation(kernel, 1e-9, 4);
  EXPECT_FALSE(cross.converged);
  EXPECT_EQ(cross.rank, 4U);
}

TEST(AlikePoints, DifferInNothingThatAConfigurationFixes) {
  std::vector<KernelPoint> points = line(4, 1);
  points[1].id[static_cast<size_t>(KernelGroup::kModel)] = 5;
  points[2].x[static_cast<size_t>(KernelDim::kDevices)] = 1;
  points[3].in_len = 3;
  EXPECT_EQ(alike_points(points), (std::vector<std::vector<size_t>>{{0, 3}, {1}, {2}}));
}

}  // namespace
}  // namespace assay
