#include "power/fit.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/factorisations.h"
#include "base/numbers.h"
#include "base/stats.h"

namespace assay {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kMostDegreeInflation = 1.5;

// P_0 .. P_d at u by Bonnet's recursion.
Vector legendre(double u, Eigen::Index terms) {
  Vector p(terms);
  p(0) = 1;
  if (terms > 1) p(1) = u;
  for (Eigen::Index k = 2; k < terms; ++k) {
    const double order = static_cast<double>(k);
    p(k) = ((2 * order - 1) * u * p(k - 1) - (order - 1) * p(k - 2)) / order;
  }
  return p;
}

double unit_time(double toi_ns, double span_ns) { return 2 * toi_ns / span_ns - 1; }

Matrix design_of(const std::vector<LoiPoint>& points, double span_ns, Eigen::Index terms) {
  Matrix design(static_cast<Eigen::Index>(points.size()), terms);
  for (size_t i = 0; i < points.size(); ++i) {
    design.row(static_cast<Eigen::Index>(i)) =
        legendre(unit_time(points[i].toi_ns, span_ns), terms).transpose();
  }
  return design;
}

Vector powers_of(const std::vector<LoiPoint>& points) {
  Vector powers(static_cast<Eigen::Index>(points.size()));
  for (size_t i = 0; i < points.size(); ++i) {
    powers(static_cast<Eigen::Index>(i)) = points[i].power_w;
  }
  return powers;
}

double widest_gap(std::vector<double> times, double span_ns) {
  std::sort(times.begin(), times.end());
  double gap = times.empty() ? span_ns : std::max(times.front(), span_ns - times.back());
  for (size_t i = 1; i < times.size(); ++i) gap = std::max(gap, times[i] - times[i - 1]);
  return gap;
}

// Index of the run per point, and the number of runs.
struct Runs {
  std::vector<size_t> run_of;  // per point, dense
  size_t count = 0;
};

Runs runs_of(const std::vector<LoiPoint>& points) {
  std::vector<uint32_t> ids;
  for (const LoiPoint& point : points) ids.push_back(point.run);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  Runs runs{.run_of = {}, .count = ids.size()};
  for (const LoiPoint& point : points) {
    runs.run_of.push_back(
        static_cast<size_t>(std::lower_bound(ids.begin(), ids.end(), point.run) - ids.begin()));
  }
  return runs;
}

// Resamples the residuals of one fit. Times stay fixed, so that every resample supports the fit.
// The wanted values are the mean and the curve at each grid time.
class Bootstrap {
 public:
  Bootstrap(const std::vector<LoiPoint>& points, const CurveFit& fit,
            const std::vector<double>& grid_ns, const Runs& runs)
      : runs_(runs),
        together_(2 * points.size() >= 3 * runs.count),
        freedom_(static_cast<double>(points.size() - fit.coefficients.size())) {
    const auto terms = static_cast<Eigen::Index>(fit.coefficients.size());
    const Matrix design = design_of(points, fit.span_ns, terms);
    const ThinQr qr = thin_qr(design);
    thin_q_ = qr.q;
    projector_ = qr.r.triangularView<Eigen::Upper>().solve(thin_q_.transpose());
    // A point with high leverage shows only part of its residual; dividing by this restores it.
    hidden_ = (1 - thin_q_.rowwise().squaredNorm().array()).max(1e-6).sqrt();
    residuals_ = spread_out(left_over(powers_of(points)));
    wanted_ = Matrix(static_cast<Eigen::Index>(grid_ns.size()) + 1, terms);
    wanted_.row(0) = Vector::Unit(terms, 0).transpose();
    for (size_t i = 0; i < grid_ns.size(); ++i) {
      wanted_.row(static_cast<Eigen::Index>(i) + 1) =
          legendre(unit_time(grid_ns[i], fit.span_ns), terms).transpose();
    }
    centres_ = wanted_ * Eigen::Map<const Vector>(fit.coefficients.data(), terms);
  }

  std::vector<Interval95> intervals(uint32_t resamples, uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<std::vector<double>> t_values(static_cast<size_t>(wanted_.rows()));
    for (uint32_t i = 0; i < resamples; ++i) {
      const Vector drawn = together_ ? flip_runs(random) : redraw_points(random);
      const Vector moved = wanted_ * (projector_ * drawn);
      const Vector errors = standard_errors(left_over(drawn));
      for (Eigen::Index w = 0; w < wanted_.rows(); ++w) {
        if (errors(w) > 0) {
          t_values[static_cast<size_t>(w)].push_back(std::fabs(moved(w) / errors(w)));
        }
      }
    }
    const Vector errors = standard_errors(residuals_.cwiseProduct(hidden_));
    std::vector<Interval95> intervals;
    for (Eigen::Index w = 0; w < wanted_.rows(); ++w) {
      std::vector<double>& t = t_values[static_cast<size_t>(w)];
      std::sort(t.begin(), t.end());
      const double half = t.empty() ? 0 : quantile_sorted(t, 0.95) * errors(w);
      intervals.push_back({centres_(w) - half, centres_(w) + half});
    }
    return intervals;
  }

 private:
  Vector left_over(const Vector& values) const {
    return values - thin_q_ * (thin_q_.transpose() * values);
  }
  Vector spread_out(const Vector& raw) const { return raw.cwiseQuotient(hidden_); }

  // All residuals of a run keep or change their sign together.
  Vector flip_runs(std::mt19937_64& random) const {
    std::vector<double> sign(runs_.count);
    for (double& s : sign) s = (random() >> 63) != 0 ? 1.0 : -1.0;
    Vector flipped = residuals_;
    for (Eigen::Index i = 0; i < flipped.size(); ++i) {
      flipped(i) *= sign[runs_.run_of[static_cast<size_t>(i)]];
    }
    return flipped;
  }

  // For runs with about one point: every point gets the residual of a random one.
  Vector redraw_points(std::mt19937_64& random) const {
    Vector drawn(residuals_.size());
    for (Eigen::Index i = 0; i < drawn.size(); ++i) {
      drawn(i) = residuals_(
          static_cast<Eigen::Index>(random() % static_cast<uint64_t>(residuals_.size())));
    }
    return drawn;
  }

  // Standard errors of the wanted values from the residuals of a fit. With several points per run,
  // each run contributes the sum of its residuals as one independent term. Otherwise residuals are
  // independent and of equal variance.
  Vector standard_errors(const Vector& raw) const {
    if (!together_)
      return (wanted_ * projector_).rowwise().norm() * (raw.norm() / std::sqrt(freedom_));
    const Vector residuals = spread_out(raw);
    Matrix moves = Matrix::Zero(projector_.rows(), static_cast<Eigen::Index>(runs_.count));
    for (Eigen::Index i = 0; i < residuals.size(); ++i) {
      moves.col(static_cast<Eigen::Index>(runs_.run_of[static_cast<size_t>(i)])) +=
          projector_.col(i) * residuals(i);
    }
    return (wanted_ * moves).rowwise().norm();
  }

  const Runs& runs_;
  bool together_;  // runs have several points each
  double freedom_;
  Matrix thin_q_;
  Matrix projector_;  // powers to coefficients
  Vector hidden_;     // share of its residual that a point shows: sqrt(1 - leverage)
  Vector residuals_;  // of the fit, divided by hidden_
  Matrix wanted_;     // coefficients to wanted values
  Vector centres_;
};

// Ratio of the uncertainty of the curve's mean to that of the points' mean: 1 for evenly spaced
// points, large if the curve extrapolates at its ends. Depends only on the times.
double mean_inflation(const std::vector<LoiPoint>& points, double span_ns, uint32_t degree) {
  const Matrix design = design_of(points, span_ns, static_cast<Eigen::Index>(degree) + 1);
  const Matrix gram = design.transpose() * design;
  const double variance = gram.ldlt().solve(Vector::Unit(gram.rows(), 0))(0);
  return std::sqrt(variance * static_cast<double>(points.size()));
}

}  // namespace

uint32_t supported_degree(const std::vector<LoiPoint>& points, double span_ns) {
  std::vector<double> times;
  for (const LoiPoint& point : points) times.push_back(point.toi_ns);
  const double gap = widest_gap(times, span_ns);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  uint32_t degree = gap > span_ns / 2 ? 1 : kFullDegree;
  const auto carried = [&](uint32_t d) {
    return points.size() >= 2 * (d + 1) && times.size() > d &&
           mean_inflation(points, span_ns, d) <= kMostDegreeInflation;
  };
  while (degree > 0 && !carried(degree)) --degree;
  return degree;
}

double CurveFit::at(double toi_ns) const {
  const auto terms = static_cast<Eigen::Index>(coefficients.size());
  const Vector basis = legendre(unit_time(toi_ns, span_ns), terms);
  return basis.dot(Eigen::Map<const Vector>(coefficients.data(), terms));
}

CurveFit fit_curve(const std::vector<LoiPoint>& points, double span_ns, uint32_t degree) {
  const Eigen::Index terms = static_cast<Eigen::Index>(degree) + 1;
  const Matrix design = design_of(points, span_ns, terms);
  const Vector powers = powers_of(points);
  const Vector coefficients = least_squares(design, powers);
  CurveFit fit{.span_ns = span_ns,
               .coefficients = {coefficients.data(), coefficients.data() + terms}};
  const Eigen::Index freedom = powers.size() - terms;
  if (freedom > 0) {
    fit.residual_w = (powers - design * coefficients).norm() / std::sqrt(double(freedom));
  }
  return fit;
}

CurveBand bootstrap_band(const std::vector<LoiPoint>& points, const CurveFit& fit,
                         const std::vector<double>& grid_ns, uint32_t resamples, uint64_t seed) {
  const auto terms = static_cast<Eigen::Index>(fit.coefficients.size());
  const Runs runs = runs_of(points);
  CurveBand band{.mean = {kNan, kNan}, .at = {}};
  band.at.resize(grid_ns.size(), band.mean);
  if (runs.count < static_cast<size_t>(terms) + 3 || resamples == 0) return band;

  const Bootstrap bootstrap(points, fit, grid_ns, runs);
  const std::vector<Interval95> intervals = bootstrap.intervals(resamples, seed);
  band.mean = intervals.front();
  std::copy(intervals.begin() + 1, intervals.end(), band.at.begin());
  return band;
}

}  // namespace assay
