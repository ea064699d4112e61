#pragma once

// Non-negative least squares on the normal equations, and the range of a sum of terms within a
// given increase of the error.

#include <cstddef>
#include <vector>

namespace assay {

// X'X, X'y and y'y: rows may be added in any order and from several places.
struct NormalEquations {
  std::vector<double> gram;  // terms x terms, symmetric
  std::vector<double> right;
  double squares = 0;

  explicit NormalEquations(size_t terms = 0) : gram(terms * terms, 0), right(terms, 0) {}
  size_t terms() const { return right.size(); }
  void add(const NormalEquations& other);
};

// min |y - X p|^2 without constraints; the gram matrix must be positive definite.
std::vector<double> solution(const NormalEquations& normal);
// min |y - X p|^2 with p >= 0 (Lawson and Hanson, "Solving Least Squares Problems", ch. 23).
std::vector<double> non_negative(const NormalEquations& normal);
// |y - X p|^2, never below 0.
double squares_left(const NormalEquations& normal, const std::vector<double>& p);

// The pseudo-inverse of a symmetric matrix of terms x terms.
std::vector<double> pseudo_inverse(const std::vector<double>& gram, size_t terms);

struct SumRange {
  double low = 0;
  double high = 0;
};
// Minimum and maximum of a.p over all p >= 0 with a sum of squares at most `room` above the
// minimum, which is at `best`; a >= 0. Exact even for terms at 0: the sum is fixed at a value, the
// terms are fitted again, and the value is bisected.
SumRange sum_range(const NormalEquations& normal, const std::vector<double>& best,
                   const std::vector<double>& a, double room);

}  // namespace assay
