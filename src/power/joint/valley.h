#pragma once

// Lag, window, drift and part kept share a narrow valley of the sum of squares, in which a search
// by one parameter at a time stalls. valley_at() gives its bottom and width to first order.

#include <cstddef>
#include <vector>

namespace assay {

struct Valley {
  std::vector<double> move;        // move of each parameter to the bottom, in units of its slope
  std::vector<double> covariance;  // parameters x parameters, for noise of variance 1
  // Largest ratio, over the parameters, of the variance to that under even noise; at least 1. A
  // sensor with noise proportional to power is noisiest at high power.
  double uneven = 1;
};

// x: the rows of the model, row-major. left: residual of each sample. slopes: for each parameter,
// the change of each modelled sample per unit. Powers at 0 stay there; the others are fitted
// together with the parameters (Gauss-Newton; Kaufman, BIT 15, 1975).
Valley valley_at(const std::vector<double>& x, const std::vector<double>& left,
                 const std::vector<double>& powers, const std::vector<std::vector<double>>& slopes);

}  // namespace assay
