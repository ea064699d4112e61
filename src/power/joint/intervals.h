#pragma once

// 95 % intervals of powers and of their sums: the union of profile intervals over the responses
// that the samples allow.

#include <cstddef>
#include <vector>

#include "power/joint/fit.h"
#include "power/joint/normal_equations.h"

namespace assay {

// A response that the samples allow, with its best powers.
struct AllowedFit {
  Response response = {};
  double worse = 0;  // excess sum of squares, in units of Noise::reach() (fit.cc)
  NormalEquations normal{};
  std::vector<double> powers = {};   // base first
  std::vector<double> inverse = {};  // of the gram matrix
  bool all_above_zero = false;
  bool exact = false;  // evaluate intervals even if some powers are 0
};
AllowedFit allowed_fit(const Response& response, double worse, bool exact, NormalEquations normal);

struct AllowedFits {
  std::vector<AllowedFit> fits = {};  // the best first
  std::vector<double> rows = {};      // row-major: samples x terms, at the best fit
  std::vector<double> read_w = {};    // the samples
  // X'ee'X from residuals, the middle of the sandwich estimator: with autocorrelation, and without.
  std::vector<double> noisy_gram = {};
  std::vector<double> uneven_gram = {};
  double variance = 0;  // of a sample
  double repeated = 1;  // variance inflation by autocorrelated noise
  double critical = 0;
  size_t readings = 0;
};

// y - X p; x is X in row-major order.
std::vector<double> residuals(const std::vector<double>& x, const std::vector<double>& y,
                              const std::vector<double>& p);
// Leave-one-out residuals: each divided by 1 - leverage (HC3; MacKinnon and White, 1985). `x` has
// the rows of X at the fit.
std::vector<double> undone_residuals(const std::vector<double>& x, std::vector<double> left,
                                     const AllowedFit& fit);
// Covariance of X'e from the actual residuals, with neighbours up to `reach` apart in Bartlett's
// weights (Newey and West, 1987).
std::vector<double> noisy_gram(const std::vector<double>& x, const std::vector<double>& left,
                               size_t reach);

// Fills powers_95, why and alike of a fit that has `allowed`.
void add_intervals(JointFit& fit);

}  // namespace assay
