#pragma once

// Power over time in the execution as a polynomial, with its uncertainty. Legendre polynomials over
// the execution stay well conditioned at high degrees, and their first coefficient is the mean
// power.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

inline constexpr double kNormal95 = 1.959963984540054;  // two-sided 95 % of a normal error

// One LOI: a sample inside an execution.
struct LoiPoint {
  double toi_ns = 0;
  double power_w = 0;
  uint32_t run = 0;
};

constexpr uint32_t kFullDegree = 4;  // the paper's "linear regression of degree four"

// Highest degree d up to 4 that the points support. It needs 2 (d + 1) points and d + 1 distinct
// times (spec step 9: 10 and 5 for degree 4). The mean of the curve may be at most 1.5 times as
// uncertain as the mean of the points. Only a straight line may cross a hole of half the execution.
uint32_t supported_degree(const std::vector<LoiPoint>& points, double span_ns);

struct CurveFit {
  double span_ns = 0;
  std::vector<double> coefficients;  // of P_0 .. P_d in u = 2 t / span - 1
  double residual_w = 0;             // around the curve, with n - d - 1 degrees of freedom

  double at(double toi_ns) const;
  // Mean power over [0, span]: the other Legendre polynomials integrate to 0.
  double mean() const { return coefficients.front(); }
};
// Needs degree + 1 points at distinct times.
CurveFit fit_curve(const std::vector<LoiPoint>& points, double span_ns, uint32_t degree);

struct Interval95 {
  double low = 0;
  double high = 0;
};
struct CurveBand {
  Interval95 mean;
  std::vector<Interval95> at;  // per grid time
};
// Bootstrap over runs, studentised: each resample uses its own standard error. This keeps the
// coverage of 95 % for ten points as for a thousand (tests/unit/power/fit_test.cc). With about one
// point per run, residuals are resampled. With several, the residuals of a run stay together and
// change sign at random. NaN with fewer than 3 runs more than coefficients.
CurveBand bootstrap_band(const std::vector<LoiPoint>& points, const CurveFit& fit,
                         const std::vector<double>& grid_ns, uint32_t resamples, uint64_t seed);

}  // namespace assay
