#pragma once

// Power over time in the execution as a smoothing spline. A boxcar turns a kernel's phases into a
// continuous curve with kinks. No quartic fits those, and a band around one contained 19 to 83 % of
// the true curve's points. A spline with a penalty estimated from the data does fit, and its
// posterior band includes its own misfit.

#include <vector>

#include "power/fit.h"

namespace assay {

// Minimum number of LOIs for a spline with a band.
constexpr size_t kFewestForSpline = 40;

struct SmoothCurve {
  std::vector<double> power_w;   // per grid time
  std::vector<Interval95> band;  // likewise
  double residual_w = 0;         // standard deviation of a LOI around the curve
};
// Linear B-splines with twelve knots per window (at least 50, at most half the points) and
// penalised first differences; restricted maximum likelihood sets the penalty. The band includes
// the error that the points of one run have in common. Needs kFewestForSpline points. span_ns: of
// the execution; window_ns: of the sensor; grid_ns within [0, span_ns].
SmoothCurve smooth_curve(const std::vector<LoiPoint>& points, double span_ns, double window_ns,
                         const std::vector<double>& grid_ns);

}  // namespace assay
