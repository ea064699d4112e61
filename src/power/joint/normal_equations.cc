#include "power/joint/normal_equations.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/factorisations.h"

namespace assay {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

using Equations = NormalEquations;

Eigen::Map<const Matrix> gram_of(const Equations& normal) {
  const auto n = static_cast<Eigen::Index>(normal.terms());
  return {normal.gram.data(), n, n};
}
Eigen::Map<const Vector> vector_of(const std::vector<double>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

constexpr double kRidge = 1e-11;  // of each diagonal: keeps equal columns solvable
constexpr int kDoublings = 40;
constexpr int kHalvings = 26;

// The unconstrained solution over the terms in `in`.
Vector solve_among(const NormalEquations& normal, const std::vector<Eigen::Index>& in) {
  Matrix part = gram_of(normal)(in, in);
  part.diagonal() *= 1 + kRidge;
  return part.ldlt().solve(Vector(vector_of(normal.right)(in)));
}

// The largest step towards `next` that keeps every term at or above 0.
double largest_step(const Vector& p, const std::vector<Eigen::Index>& in, const Vector& next) {
  double step = 1;
  for (size_t k = 0; k < in.size(); ++k) {
    const double to = next(static_cast<Eigen::Index>(k));
    if (to <= 0) step = std::min(step, p(in[k]) / std::max(p(in[k]) - to, 1e-300));
  }
  return step;
}

// Moves to the solution over `in`, dropping terms that reach 0 on the way.
void settle(const NormalEquations& normal, std::vector<Eigen::Index>& in, Vector& p) {
  while (!in.empty()) {
    const Vector next = solve_among(normal, in);
    const double step = largest_step(p, in, next);
    for (size_t k = 0; k < in.size(); ++k) {
      p(in[k]) += step * (next(static_cast<Eigen::Index>(k)) - p(in[k]));
    }
    if (step >= 1) return;
    const size_t before = in.size();
    std::erase_if(in, [&](Eigen::Index i) {
      if (p(i) > 1e-12) return false;
      p(i) = 0;
      return true;
    });
    if (in.size() == before) return;  // no term reached 0: rounding
  }
}

Vector solve_non_negative(const NormalEquations& normal) {
  const auto n = static_cast<Eigen::Index>(normal.terms());
  const auto gram = gram_of(normal);
  const auto right = vector_of(normal.right);
  Vector p = Vector::Zero(n);
  std::vector<Eigen::Index> in;
  const double tolerance = 1e-10 * (1 + right.cwiseAbs().maxCoeff());
  for (Eigen::Index round = 0; round < 3 * n; ++round) {
    const Vector slope = right - gram * p;
    Eigen::Index enter = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (std::find(in.begin(), in.end(), i) != in.end() || slope(i) <= tolerance) continue;
      if (enter < 0 || slope(i) > slope(enter)) enter = i;
    }
    if (enter < 0) break;
    in.push_back(enter);
    settle(normal, in, p);
  }
  return p;
}

}  // namespace

void NormalEquations::add(const NormalEquations& other) {
  for (size_t i = 0; i < gram.size(); ++i) gram[i] += other.gram[i];
  for (size_t i = 0; i < right.size(); ++i) right[i] += other.right[i];
  squares += other.squares;
}

std::vector<double> solution(const NormalEquations& normal) {
  const Vector p = gram_of(normal).ldlt().solve(vector_of(normal.right));
  return {p.data(), p.data() + p.size()};
}

std::vector<double> non_negative(const NormalEquations& normal) {
  const Vector p = solve_non_negative(normal);
  return {p.data(), p.data() + p.size()};
}

double squares_left(const NormalEquations& normal, const std::vector<double>& p) {
  const auto x = vector_of(p);
  const double fitted = x.dot(gram_of(normal) * x) - 2 * vector_of(normal.right).dot(x);
  return std::max(0.0, normal.squares + fitted);
}

std::vector<double> pseudo_inverse(const std::vector<double>& gram, size_t terms) {
  const auto n = static_cast<Eigen::Index>(terms);
  const Matrix inverse = pseudo_inverse_of(Eigen::Map<const Matrix>(gram.data(), n, n));
  return {inverse.data(), inverse.data() + inverse.size()};
}

SumRange sum_range(const NormalEquations& normal, const std::vector<double>& best,
                   const std::vector<double>& a, double room) {
  const auto gram = gram_of(normal);
  const auto right = vector_of(normal.right);
  const auto weights = vector_of(a);
  const auto fitted = [&](const Vector& p) { return p.dot(gram * p) - 2 * right.dot(p); };
  const double least = fitted(vector_of(best));
  const double hold =
      1e6 * gram.trace() / static_cast<double>(a.size()) / std::max(weights.squaredNorm(), 1e-300);
  const auto rise = [&](double value) {
    NormalEquations held = normal;
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t k = 0; k < a.size(); ++k) held.gram[i * a.size() + k] += hold * a[i] * a[k];
      held.right[i] += hold * value * a[i];
    }
    return fitted(solve_non_negative(held)) - least;
  };
  const double at = weights.dot(vector_of(best));
  const double first =
      std::max(0.02 * at, std::sqrt(room / std::max(weights.dot(gram * weights), 1e-300)) *
                              weights.squaredNorm());
  SumRange range;
  for (const int side : {-1, 1}) {
    double& end = side < 0 ? range.low : range.high;
    if (side < 0 && rise(0) <= room) continue;  // the minimum is 0
    double step = first;
    double far = at + side * step;
    for (int i = 0; i < kDoublings && far > 0 && rise(far) <= room; ++i) {
      step *= 2;
      far = at + side * step;
    }
    double near = at;
    far = std::max(far, 0.0);
    for (int i = 0; i < kHalvings && std::fabs(far - near) > 1e-7 * (near + far); ++i) {
      const double middle = (near + far) / 2;
      (rise(middle) <= room ? near : far) = middle;
    }
    end = (near + far) / 2;
  }
  return range;
}

}  // namespace assay
