#include "throughput/linear_regression.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(LinearRegression, RecoversALine) {
  const LinearModel model = fit_linear({{1, 2}, {2, 1}, {3, 5}, {4, 3}}, {9, 8, 22, 18});
  EXPECT_NEAR(model.predict({10, 10}), 1 + 2 * 10 + 3 * 10, 1e-9);
}

TEST(LinearRegression, OfDependentColumnsTheSmallestSolution) {
  // Device and framework tell the same: each column takes half of the distance of 2 about the mean
  // of 4, and what only the held-out row has counts nothing.
  const LinearModel model = fit_linear(
      {{1, 0, 1, 0, 0}, {0, 1, 0, 1, 0}, {1, 0, 1, 0, 0}, {0, 1, 0, 1, 0}}, {3, 5, 3, 5});
  EXPECT_NEAR(model.predict({0, 0, 0, 1, 1}), 4.5, 1e-12);
  EXPECT_NEAR(model.predict({1, 0, 1, 0, 0}), 3, 1e-12);
}

}  // namespace
}  // namespace assay
