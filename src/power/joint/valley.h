#pragma once

// Lag, window, drift and part kept share a narrow valley of the sum of squares, in which a search
// by one parameter at a time stalls. Here its bottom and its width, to first order.

#include <cstddef>
#include <vector>

namespace assay {

struct Valley {
  std::vector<double> move;        // of each parameter to the bottom, in the units of its slope
  std::vector<double> covariance;  // parameters x parameters, for noise of variance 1
  // By how much more a parameter varies than under even noise, of the one of which it is most: a
  // sensor whose noise is a share of the power is noisiest where most is drawn. 1 at least.
  double uneven = 1;
};

// x: the model's rows one after the other; left: what the powers leave of each reading; slopes: of
// each parameter, what one unit of it adds to each modelled reading. Powers at 0 stay there, the
// others are fitted beside the parameters (Gauss and Newton; Kaufman, BIT 15, 1975).
Valley valley_at(const std::vector<double>& x, const std::vector<double>& left,
                 const std::vector<double>& powers, const std::vector<std::vector<double>>& slopes);

}  // namespace assay
