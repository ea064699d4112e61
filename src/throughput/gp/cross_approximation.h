#pragma once

// Covariances of many alike points with the data as a product of low rank: adaptive cross
// approximation with partial pivoting (Bebendorf, Numerische Mathematik 86, 2000, section 4).

#include <cstddef>
#include <vector>

#include "throughput/gp/kernel.h"

namespace assay {

// Row i of the kernel is about the sum over k of left(i, k) * right(., k); both column-major.
struct CrossApproximation {
  size_t rank = 0;
  std::vector<double> left;   // kernel.rows() * rank
  std::vector<double> right;  // kernel.columns() * rank
  // Per term: the row it was taken from, and the column where that row lacked most. Eliminating
  // them in this order gives back left and right of any other row and column.
  std::vector<size_t> pivot_rows;
  std::vector<size_t> pivot_columns;
  // Several rows in turn, spread over all, lacked no more than the threshold (in Euclidean norm).
  bool converged = false;
};

CrossApproximation cross_approximation(const CrossKernel& kernel, double threshold,
                                       size_t max_rank);

}  // namespace assay
