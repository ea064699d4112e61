#include "power/smooth_curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace assay {
namespace {

constexpr double kKnotsPerWindow = 12;
constexpr double kFewestKnots = 50;

// A symmetric tridiagonal matrix: products of neighbouring basis functions, and penalised
// differences between them.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  // one fewer

  explicit Tridiagonal(size_t n) : diagonal(n, 0), beside(n - 1, 0) {}
};

// Q = L D L'. L is unit lower bidiagonal with `lower` below the diagonal.
struct Factored {
  std::vector<double> d;
  std::vector<double> lower;
  double log_determinant = 0;

  explicit Factored(const Tridiagonal& q) : d(q.diagonal), lower(q.beside) {
    for (size_t i = 0; i < lower.size(); ++i) {
      lower[i] = q.beside[i] / d[i];
      d[i + 1] -= lower[i] * q.beside[i];
    }
    for (const double pivot : d) log_determinant += std::log(pivot);
  }

  std::vector<double> solved(std::vector<double> x) const {
    for (size_t i = 0; i < lower.size(); ++i) x[i + 1] -= lower[i] * x[i];
    for (size_t i = 0; i < d.size(); ++i) x[i] /= d[i];
    for (size_t i = lower.size(); i-- > 0;) x[i] -= lower[i] * x[i + 1];
    return x;
  }

  // The tridiagonal part of the inverse (Takahashi, Fagan and Chen, 1973).
  Tridiagonal inverse() const {
    Tridiagonal result(d.size());
    result.diagonal.back() = 1 / d.back();
    for (size_t i = lower.size(); i-- > 0;) {
      result.beside[i] = -lower[i] * result.diagonal[i + 1];
      result.diagonal[i] = 1 / d[i] - lower[i] * result.beside[i];
    }
    return result;
  }
};

// Position of a time between two knots, and the weight of the right one.
struct Hat {
  size_t left = 0;
  double share = 0;
};

Hat hat_at(double toi_ns, double span_ns, size_t knots) {
  const double place = std::clamp(toi_ns / span_ns, 0.0, 1.0) * static_cast<double>(knots - 1);
  const size_t left = std::min(static_cast<size_t>(place), knots - 2);
  return {left, place - static_cast<double>(left)};
}

double value_of(const Hat& hat, const std::vector<double>& at_knots) {
  return at_knots[hat.left] * (1 - hat.share) + at_knots[hat.left + 1] * hat.share;
}

// b' M b for the two weights of a hat.
double quadratic(const Hat& hat, const Tridiagonal& m) {
  const double a = 1 - hat.share;
  const double b = hat.share;
  return a * a * m.diagonal[hat.left] + 2 * a * b * m.beside[hat.left] +
         b * b * m.diagonal[hat.left + 1];
}

Tridiagonal penalised(const Tridiagonal& gram, double penalty) {
  Tridiagonal q = gram;
  for (size_t i = 0; i < q.beside.size(); ++i) {
    q.diagonal[i] += penalty;
    q.diagonal[i + 1] += penalty;
    q.beside[i] -= penalty;
  }
  return q;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Problem {
  std::vector<Hat> hats;
  std::vector<double> above_mean;
  double mean = 0;
  Tridiagonal gram;
  std::vector<double> right;
  double squares = 0;
};

Problem problem_of(const std::vector<LoiPoint>& points, double span_ns, size_t knots) {
  Problem problem{{}, {}, 0, Tridiagonal(knots), std::vector<double>(knots, 0), 0};
  for (const LoiPoint& point : points) {
    problem.mean += point.power_w / static_cast<double>(points.size());
  }
  for (const LoiPoint& point : points) {
    const Hat hat = hat_at(point.toi_ns, span_ns, knots);
    const double y = point.power_w - problem.mean;
    problem.hats.push_back(hat);
    problem.above_mean.push_back(y);
    problem.gram.diagonal[hat.left] += (1 - hat.share) * (1 - hat.share);
    problem.gram.diagonal[hat.left + 1] += hat.share * hat.share;
    problem.gram.beside[hat.left] += hat.share * (1 - hat.share);
    problem.right[hat.left] += (1 - hat.share) * y;
    problem.right[hat.left + 1] += hat.share * y;
    problem.squares += y * y;
  }
  return problem;
}

// Restricted maximum likelihood over a grid of penalties, a quarter of a decade apart.
double likeliest_penalty(const Problem& problem) {
  const auto n = static_cast<double>(problem.hats.size());
  const auto knots = static_cast<double>(problem.right.size());
  double best = 1;
  double least = INFINITY;
  for (int step = -16; step < 20; ++step) {
    const double penalty = std::pow(10.0, 0.25 * step);
    const Factored factored(penalised(problem.gram, penalty));
    const double left = problem.squares - dot(factored.solved(problem.right), problem.right);
    const double score = (n - 1) * std::log(std::max(left, 1e-12) / (n - 1)) +
                         factored.log_determinant - (knots - 1) * std::log(penalty);
    if (score >= least) continue;
    least = score;
    best = penalty;
  }
  return best;
}

// Effective degrees of freedom of the fit: the trace of gram x inverse.
double freedom_taken(const Tridiagonal& gram, const Tridiagonal& inverse) {
  return dot(gram.diagonal, inverse.diagonal) + 2 * dot(gram.beside, inverse.beside);
}

// Variance of the curve's level from errors that the points of a run have in common, such as clock
// and temperature. A posterior for independent points does not include it.
double level_variance(const std::vector<LoiPoint>& points, const std::vector<double>& left) {
  std::map<uint32_t, std::pair<double, double>> runs;  // sum of what is left, points
  double squares = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    auto& [sum, count] = runs[points[i].run];
    sum += left[i];
    count += 1;
    squares += left[i] * left[i];
  }
  double common = -squares;
  double pairs = 0;
  double weights = 0;
  for (const auto& [run, of_run] : runs) {
    const auto& [sum, count] = of_run;
    common += sum * sum;
    pairs += count * (count - 1);
    weights += count * count;
  }
  const auto n = static_cast<double>(points.size());
  return pairs > 0 ? std::max(0.0, common / pairs) * weights / (n * n) : 0;
}

}  // namespace

SmoothCurve smooth_curve(const std::vector<LoiPoint>& points, double span_ns, double window_ns,
                         const std::vector<double>& grid_ns) {
  const double most = std::max(8.0, static_cast<double>(points.size()) / 2);
  const double wanted = window_ns > 0 ? kKnotsPerWindow * span_ns / window_ns : most;
  const auto knots = static_cast<size_t>(std::min(most, std::max(kFewestKnots, wanted)));
  const Problem problem = problem_of(points, span_ns, knots);
  const double penalty = likeliest_penalty(problem);
  const Factored factored(penalised(problem.gram, penalty));
  const std::vector<double> at_knots = factored.solved(problem.right);
  const Tridiagonal inverse = factored.inverse();
  std::vector<double> left;
  for (size_t i = 0; i < points.size(); ++i) {
    left.push_back(problem.above_mean[i] - value_of(problem.hats[i], at_knots));
  }
  const double freedom =
      std::max(static_cast<double>(points.size()) - freedom_taken(problem.gram, inverse), 1.0);
  SmoothCurve curve;
  curve.residual_w = std::sqrt(dot(left, left) / freedom);
  const double level = level_variance(points, left);
  for (const double toi : grid_ns) {
    const Hat hat = hat_at(toi, span_ns, knots);
    const double watts = problem.mean + value_of(hat, at_knots);
    const double scatter = curve.residual_w * curve.residual_w * quadratic(hat, inverse);
    const double half = kNormal95 * std::sqrt(std::max(scatter, 0.0) + level);
    curve.power_w.push_back(watts);
    curve.band.push_back({watts - half, watts + half});
  }
  return curve;
}

}  // namespace assay
