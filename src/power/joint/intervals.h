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
  double worse = 0;  // sum of squares above the least, in units of the scale of acceptance
  NormalEquations normal{};
  std::vector<double> powers = {};   // base first
  std::vector<double> inverse = {};  // of the gram matrix
  bool all_above_zero = false;
  bool exact = false;  // evaluate also where powers are 0
};
AllowedFit allowed_fit(const Response& response, double worse, bool exact, NormalEquations normal);

struct AllowedFits {
  std::vector<AllowedFit> fits = {};  // the best first
  std::vector<double> rows = {};      // of the model at the best fit, one after the other
  std::vector<double> read_w = {};    // what was read
  // X'ee'X from residuals, the middle of the sandwich: with what neighbours repeat, and without.
  std::vector<double> noisy_gram = {};
  std::vector<double> uneven_gram = {};
  double variance = 0;  // of a reading
  double repeated = 1;  // by how much neighbours repeat each other's noise
  double critical = 0;
  size_t readings = 0;
};

// y - X p; x holds the rows of X one after the other.
std::vector<double> residuals(const std::vector<double>& x, const std::vector<double>& y,
                              const std::vector<double>& p);
// Leave-one-out residual of each sample: its residual divided by 1 - leverage (HC3; MacKinnon and
// White, 1985). Rows of X at the fit.
std::vector<double> undone_residuals(const std::vector<double>& x, std::vector<double> left,
                                     const AllowedFit& fit);
// Covariance of X'e from the residuals as they are, neighbours up to `reach` apart with Bartlett's
// weights (Newey and West, 1987).
std::vector<double> noisy_gram(const std::vector<double>& x, const std::vector<double>& left,
                               size_t reach);

// Fills powers_95, why and alike of a fit that has `allowed`.
void add_intervals(JointFit& fit);

}  // namespace assay
