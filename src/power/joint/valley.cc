#include "power/joint/valley.h"

#include <algorithm>

#include "power/joint/normal_equations.h"

namespace assay {
namespace {

// Ridge that keeps moves small for parameters that the samples hardly separate.
constexpr double kRidge = 1e-6;  // of each diagonal

// Per sample: the shares of the powers above 0, then the slopes.
struct Rows {
  size_t terms = 0;
  std::vector<double> values = {};  // one row after the other

  const double* at(size_t i) const { return values.data() + i * terms; }
};

Rows rows_of(const std::vector<double>& x, size_t readings, const std::vector<double>& powers,
             const std::vector<std::vector<double>>& slopes) {
  std::vector<size_t> in;
  for (size_t j = 0; j < powers.size(); ++j) {
    if (powers[j] > 0) in.push_back(j);
  }
  Rows rows{.terms = in.size() + slopes.size()};
  for (size_t i = 0; i < readings; ++i) {
    for (const size_t j : in) rows.values.push_back(x[i * powers.size() + j]);
    for (const std::vector<double>& slope : slopes) rows.values.push_back(slope[i]);
  }
  return rows;
}

NormalEquations equations(const Rows& rows, const std::vector<double>& left) {
  const size_t terms = rows.terms;
  NormalEquations normal(terms);
  for (size_t i = 0; i < left.size(); ++i) {
    const double* row = rows.at(i);
    for (size_t a = 0; a < terms; ++a) {
      normal.right[a] += row[a] * left[i];
      for (size_t b = 0; b <= a; ++b) normal.gram[a * terms + b] += row[a] * row[b];
    }
  }
  for (size_t a = 0; a < terms; ++a) {
    for (size_t b = 0; b < a; ++b) normal.gram[b * terms + a] = normal.gram[a * terms + b];
    normal.gram[a * terms + a] = normal.gram[a * terms + a] * (1 + kRidge) + 1e-12;
  }
  return normal;
}

// Variance of each term from the actual residuals (White, 1980) over that of even noise with the
// same mean square; the maximum over the terms starting at `first`, at least 1.
double most_uneven(const Rows& rows, const std::vector<double>& left,
                   const std::vector<double>& inverse, size_t first) {
  const size_t terms = rows.terms;
  std::vector<double> own(terms, 0);
  double squares = 1e-300;
  for (size_t i = 0; i < left.size(); ++i) {
    squares += left[i] * left[i];
    for (size_t a = first; a < terms; ++a) {
      double moved = 0;
      for (size_t b = 0; b < terms; ++b) moved += inverse[a * terms + b] * rows.at(i)[b];
      own[a] += moved * moved * left[i] * left[i];
    }
  }
  double most = 1;
  for (size_t a = first; a < terms; ++a) {
    const double even = inverse[a * terms + a] * squares / static_cast<double>(left.size());
    if (even > 0) most = std::max(most, own[a] / even);
  }
  return most;
}

}  // namespace

Valley valley_at(const std::vector<double>& x, const std::vector<double>& left,
                 const std::vector<double>& powers,
                 const std::vector<std::vector<double>>& slopes) {
  const Rows rows = rows_of(x, left.size(), powers, slopes);
  const NormalEquations normal = equations(rows, left);
  const size_t terms = normal.terms();
  const size_t first = terms - slopes.size();
  const std::vector<double> inverse = pseudo_inverse(normal.gram, terms);
  Valley valley;
  valley.uneven = most_uneven(rows, left, inverse, first);
  for (size_t a = first; a < terms; ++a) {
    double move = 0;
    for (size_t b = 0; b < terms; ++b) move += inverse[a * terms + b] * normal.right[b];
    valley.move.push_back(move);
    for (size_t b = first; b < terms; ++b) valley.covariance.push_back(inverse[a * terms + b]);
  }
  return valley;
}

}  // namespace assay
