#pragma once

// Power over time in the execution as a smoothing spline. What a boxcar makes of a kernel's phases
// is continuous with kinks: no quartic goes through those, and a band around one held 19 to 83 % of
// the true curve's points. A spline whose penalty the data choose does, and its posterior band has
// its own misfit inside.

#include <vector>

#include "power/fit.h"

namespace assay {

// Fewer LOIs carry a curve but no band.
constexpr size_t kFewestForSpline = 40;

struct SmoothCurve {
  std::vector<double> power_w;   // per grid time
  std::vector<Interval95> band;  // likewise
  double residual_w = 0;         // standard deviation of a LOI around the curve
};
// Linear B-splines with twelve knots a window (50 at least, half the points at most),
// penalised first differences, the penalty by restricted maximum likelihood; the band holds what
// the points of one run have in common as well. Needs
// kFewestForSpline points. window_ns: of the sensor; grid_ns within [0, span_ns].
SmoothCurve smooth_curve(const std::vector<LoiPoint>& points, double span_ns, double window_ns,
                         const std::vector<double>& grid_ns);

}  // namespace assay
