#pragma once

// Low-rank approximation of the covariances of many similar points with the data: adaptive cross
// approximation with partial pivoting (Bebendorf, Numerische Mathematik 86, 2000, section 4).

#include <cstddef>
#include <vector>

#include "throughput/gp/kernel.h"

namespace assay {

// kernel(i, j) is about the sum over k of left(i, k) * right(j, k); both are column-major.
struct CrossApproximation {
  size_t rank = 0;
  std::vector<double> left;   // kernel.rows() * rank
  std::vector<double> right;  // kernel.columns() * rank
  // Per term: its row, and the column with the largest residual of that row. Elimination in this
  // order reproduces left and right for any other row and column.
  std::vector<size_t> pivot_rows;
  std::vector<size_t> pivot_columns;
  // True if the residuals of several consecutive probe rows, spread over all rows, are within the
  // threshold (Euclidean norm).
  bool converged = false;
};

CrossApproximation cross_approximation(const CrossKernel& kernel, double threshold,
                                       size_t max_rank);

}  // namespace assay
