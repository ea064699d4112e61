#include "power/power_classes.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

namespace assay {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kAlike = 0.95;             // correlation above which two columns are one
constexpr double kMostPowerInflation = 30;  // of a power's variance by the other columns
constexpr double kSteady = 0.01;  // standard deviation of a share below which it is constant

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// Columns centred and scaled to unit length; columns that do not vary stay zero.
Matrix standardised(const ShareMatrix& matrix) {
  const auto rows = static_cast<Eigen::Index>(matrix.rows());
  Matrix z(rows, static_cast<Eigen::Index>(matrix.columns.size()));
  for (size_t c = 0; c < matrix.columns.size(); ++c) {
    const auto column = static_cast<Eigen::Index>(c);
    z.col(column) = Eigen::Map<const Vector>(matrix.columns[c].data(), rows);
    z.col(column).array() -= z.col(column).mean();
    const double norm = z.col(column).norm();
    z.col(column) *= norm > 0 ? 1 / norm : 0;
  }
  return z;
}

struct Worst {
  size_t a = 0;
  size_t b = 0;
  bool found = false;
};

// The pair to merge next: the most alike, else the most inflated column with the one it is most
// alike to.
Worst worst_pair(const ShareMatrix& matrix, const std::vector<bool>& steady) {
  const Matrix z = standardised(matrix);
  const Matrix alike = z.transpose() * z;
  const Eigen::Index n = alike.rows();
  const auto usable = [&](Eigen::Index i) { return !steady[static_cast<size_t>(i)]; };
  const auto nearest = [&](Eigen::Index i) {
    Eigen::Index best = -1;
    for (Eigen::Index j = 0; j < n; ++j) {
      if (j == i || !usable(j)) continue;
      if (best < 0 || std::fabs(alike(i, j)) > std::fabs(alike(i, best))) best = j;
    }
    return best;
  };
  Worst worst;
  double highest = kAlike;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index j = usable(i) ? nearest(i) : -1;
    if (j < 0 || std::fabs(alike(i, j)) <= highest) continue;
    highest = std::fabs(alike(i, j));
    worst = {static_cast<size_t>(std::min(i, j)), static_cast<size_t>(std::max(i, j)), true};
  }
  if (worst.found) return worst;
  Matrix regular = alike;
  for (Eigen::Index i = 0; i < n; ++i) {
    regular(i, i) = 1 + 1e-9;
    if (!usable(i)) {
      regular.row(i).setZero();
      regular.col(i).setZero();
      regular(i, i) = 1;
    }
  }
  const Vector inflation = regular.ldlt().solve(Matrix::Identity(n, n)).diagonal();
  Eigen::Index most = -1;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!usable(i) || inflation(i) <= kMostPowerInflation) continue;
    if (most < 0 || inflation(i) > inflation(most)) most = i;
  }
  if (most < 0) return worst;
  const Eigen::Index j = nearest(most);
  if (j < 0) return worst;
  return {static_cast<size_t>(std::min(most, j)), static_cast<size_t>(std::max(most, j)), true};
}

struct Normal {
  Matrix gram;
  Vector right;
};

// X'X and X'y over rows [begin, end), the base being column 0.
void add_rows(const ShareMatrix& m, size_t begin, size_t end, Normal& normal) {
  const auto terms = static_cast<Eigen::Index>(m.columns.size()) + 1;
  Vector row(terms);
  for (size_t i = begin; i < end; ++i) {
    row(0) = 1;
    for (size_t c = 0; c < m.columns.size(); ++c) {
      row(static_cast<Eigen::Index>(c) + 1) = m.columns[c][i];
    }
    normal.gram.selfadjointView<Eigen::Lower>().rankUpdate(row);
    normal.right += row * m.watts[i];
  }
}

Normal empty_normal(size_t columns) {
  const auto terms = static_cast<Eigen::Index>(columns) + 1;
  return {Matrix::Zero(terms, terms), Vector::Zero(terms)};
}

// Lawson and Hanson's active set on the normal equations: exact in finitely many steps. Columns
// that are `barred` stay at zero.
std::vector<double> non_negative(const Normal& normal, const std::vector<bool>& barred) {
  const Eigen::Index n = normal.right.size();
  const Matrix gram = normal.gram.selfadjointView<Eigen::Lower>();
  std::vector<bool> active(static_cast<size_t>(n), false);
  Vector x = Vector::Zero(n);
  const double tolerance = 1e-10 * (1 + normal.right.cwiseAbs().maxCoeff());
  for (Eigen::Index step = 0; step < 3 * n + 10; ++step) {
    const Vector gradient = normal.right - gram * x;
    Eigen::Index enter = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (active[static_cast<size_t>(i)] || barred[static_cast<size_t>(i)]) continue;
      if (gradient(i) > tolerance && (enter < 0 || gradient(i) > gradient(enter))) enter = i;
    }
    if (enter < 0) break;
    active[static_cast<size_t>(enter)] = true;
    for (;;) {
      std::vector<Eigen::Index> in;
      for (Eigen::Index i = 0; i < n; ++i) {
        if (active[static_cast<size_t>(i)]) in.push_back(i);
      }
      const Matrix part = gram(in, in);
      const Vector solved = part.ldlt().solve(Vector(normal.right(in)));
      double least = 1;
      for (size_t k = 0; k < in.size(); ++k) {
        const double now = x(in[k]);
        const double next = solved(static_cast<Eigen::Index>(k));
        if (next <= 0) least = std::min(least, now / std::max(now - next, 1e-300));
      }
      for (size_t k = 0; k < in.size(); ++k) {
        x(in[k]) += least * (solved(static_cast<Eigen::Index>(k)) - x(in[k]));
      }
      if (least >= 1) break;
      for (const Eigen::Index i : in) {
        if (x(i) > 1e-12) continue;
        x(i) = 0;
        active[static_cast<size_t>(i)] = false;
      }
    }
  }
  return {x.data(), x.data() + n};
}

std::vector<bool> barred_terms(const std::vector<bool>& steady) {
  std::vector<bool> barred(1, false);
  barred.insert(barred.end(), steady.begin(), steady.end());
  return barred;
}

}  // namespace

ShareMatrix merge_columns(const ShareMatrix& matrix, const ColumnGroups& groups) {
  ShareMatrix merged;
  merged.watts = matrix.watts;
  for (const std::vector<size_t>& group : groups.groups) {
    std::vector<double> sum(matrix.rows(), 0);
    for (const size_t c : group) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += matrix.columns[c][i];
    }
    merged.columns.push_back(std::move(sum));
  }
  return merged;
}

ColumnGroups tell_apart(const ShareMatrix& matrix) {
  ColumnGroups groups;
  for (size_t c = 0; c < matrix.columns.size(); ++c) groups.groups.push_back({c});
  for (;;) {
    const ShareMatrix merged = merge_columns(matrix, groups);
    groups.steady.clear();
    for (const std::vector<double>& column : merged.columns) {
      groups.steady.push_back(deviation_of(column) < kSteady);
    }
    const Worst worst = worst_pair(merged, groups.steady);
    if (!worst.found) break;
    std::vector<size_t>& into = groups.groups[worst.a];
    const std::vector<size_t>& from = groups.groups[worst.b];
    into.insert(into.end(), from.begin(), from.end());
    std::sort(into.begin(), into.end());
    groups.groups.erase(groups.groups.begin() + static_cast<std::ptrdiff_t>(worst.b));
  }
  return groups;
}

std::vector<double> fit_powers(const ShareMatrix& merged, const std::vector<bool>& steady) {
  Normal normal = empty_normal(merged.columns.size());
  add_rows(merged, 0, merged.rows(), normal);
  return non_negative(normal, barred_terms(steady));
}

std::vector<std::vector<double>> bootstrap_powers(const ShareMatrix& merged,
                                                  const std::vector<bool>& steady, size_t block,
                                                  uint32_t resamples, uint64_t seed) {
  std::vector<Normal> blocks;
  for (size_t begin = 0; begin < merged.rows(); begin += block) {
    blocks.push_back(empty_normal(merged.columns.size()));
    add_rows(merged, begin, std::min(merged.rows(), begin + block), blocks.back());
  }
  std::mt19937_64 random(seed);
  const std::vector<bool> barred = barred_terms(steady);
  std::vector<std::vector<double>> draws;
  for (uint32_t resample = 0; resample < resamples; ++resample) {
    Normal normal = empty_normal(merged.columns.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Normal& drawn = blocks[random() % blocks.size()];
      normal.gram += drawn.gram;
      normal.right += drawn.right;
    }
    draws.push_back(non_negative(normal, barred));
  }
  return draws;
}

}  // namespace assay
