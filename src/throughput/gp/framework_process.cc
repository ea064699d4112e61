#include "throughput/gp/framework_process.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "base/numbers.h"
#include "throughput/gp/kernel_products.h"
#include "throughput/gp/kernel_terms.h"
#include "throughput/gp/products.h"

namespace assay {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Share of the common part's variance that is ignored between frameworks.
constexpr double kCommonThreshold = 1e-5;
constexpr size_t kMaxCommon = 512;
// Reductions of a unit variance below this are not passed to other frameworks.
constexpr double kLeastTold = 1e-5;
// Minimum numbers of points and of rows of a framework for the reduced computation. Below, each
// point uses all of its rows.
constexpr size_t kPointsWorthReducing = 512;
constexpr size_t kRowsWorthReducing = 1024;
constexpr size_t kChosenAtFirst = 640;
constexpr size_t kPointsAtOnce = 16384;
constexpr size_t kChosenAtOnce = 128;
// Threshold for new directions, relative to the largest column, after subtracting the known part.
// Smaller ones change no variance.
constexpr double kNothingNew = 1e-4;
// The sum of squares of n standard normal numbers is below kLeastOfProbes only once in 10^7 times:
// P(12, 1.5) = 7e-8, the regularised incomplete gamma function.
constexpr size_t kRandomProbes = 24;
constexpr double kLeastOfProbes = 3;

size_t framework_of(const KernelPoint& point) {
  return point.id[static_cast<size_t>(KernelGroup::kFramework)];
}

std::map<size_t, std::vector<size_t>> by_framework(const std::vector<KernelPoint>& points) {
  std::map<size_t, std::vector<size_t>> of;
  for (size_t i = 0; i < points.size(); ++i) of[framework_of(points[i])].push_back(i);
  return of;
}

struct Kernel {
  KernelSpec spec;
  std::vector<double> parameters;

  Matrix operator()(const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b) const {
    Matrix k(std::ssize(a), std::ssize(b));
    kernel_matrix(spec, parameters, a, b, k.data());
    return k;
  }
  double variance(const KernelPoint& point) const {
    return kernel_variance(spec, parameters, point);
  }
};

// The part of the kernel that applies to all rows.
Kernel common_part(const KernelSpec& spec, const std::vector<double>& parameters) {
  Kernel out;
  auto at = parameters.begin();
  for (const KernelComponent& component : spec.components) {
    const auto end = at + 1 + static_cast<ptrdiff_t>(component.dims.size());
    if (component.group == KernelGroup::kAll) {
      out.spec.components.push_back(component);
      out.parameters.insert(out.parameters.end(), at, end);
    }
    at = end;
  }
  return out;
}

// Lower triangle of k += sign * a' a.
void add_product(Matrix& k, const Matrix& a, double sign) {
  if (a.rows() > 0) k.selfadjointView<Eigen::Lower>().rankUpdate(a.transpose(), sign);
}

// Pivoted Cholesky factor of a positive semidefinite matrix with columns computed on demand.
struct PivotedCholesky {
  std::vector<size_t> pivots;
  Matrix factor;  // size x pivots; factor * factor' = matrix, up to the threshold
};

template <typename Column>
PivotedCholesky pivoted_cholesky(Vector diagonal, Column column, double threshold, size_t most) {
  PivotedCholesky out;
  most = std::min(most, static_cast<size_t>(diagonal.size()));
  out.factor.resize(diagonal.size(), static_cast<Index>(most));
  while (out.pivots.size() < most) {
    Index at = 0;
    const double largest = diagonal.maxCoeff(&at);
    if (!(largest > threshold)) break;
    const auto k = static_cast<Index>(out.pivots.size());
    Vector left = column(static_cast<size_t>(at));
    left.noalias() -= out.factor.leftCols(k) * out.factor.row(at).head(k).transpose();
    out.factor.col(k) = left / std::sqrt(largest);
    diagonal -= out.factor.col(k).cwiseAbs2();
    diagonal(at) = 0;
    out.pivots.push_back(static_cast<size_t>(at));
  }
  out.factor.conservativeResize(Eigen::NoChange, static_cast<Index>(out.pivots.size()));
  return out;
}

// Indices of rows that span the common part, up to the threshold.
std::vector<size_t> common_pivots(const Kernel& common, const std::vector<KernelPoint>& rows) {
  Vector variances(std::ssize(rows));
  for (size_t i = 0; i < rows.size(); ++i)
    variances(static_cast<Index>(i)) = common.variance(rows[i]);
  const auto column = [&](size_t i) -> Vector { return common(rows, {rows[i]}); };
  return pivoted_cholesky(variances, column, kCommonThreshold, kMaxCommon).pivots;
}

// Features of the common part in terms of its pivots: k(a, b) is about of(a)' of(b).
class CommonTerms {
 public:
  CommonTerms(Kernel common, std::vector<KernelPoint> pivots)
      : common_(std::move(common)), pivots_(std::move(pivots)), factor_(common_(pivots_, pivots_)) {
    whole_ = factorise(factor_);
  }
  bool whole() const { return whole_; }
  Matrix of(const std::vector<KernelPoint>& points) const {
    Matrix told = common_(pivots_, points);
    solve_lower(factor_, told);
    return told;
  }

 private:
  Kernel common_;
  std::vector<KernelPoint> pivots_;
  Matrix factor_;
  bool whole_ = false;
};

double noise_of(const std::vector<double>& parameters) {
  return parameters.back() * parameters.back() + kGpJitter;
}

Matrix normal_numbers(Index rows, Index columns) {
  constexpr double kTurn = 6.283185307179586;
  std::mt19937_64 random(1);
  const auto unit = [&random] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  Matrix out(rows, columns);
  // Box-Muller.
  for (Index i = 0; i < out.size(); ++i) {
    const double radius = std::sqrt(-2 * std::log(unit()));
    out.data()[i] = radius * std::cos(kTurn * unit());
  }
  return out;
}

// The rows of one framework, conditioned on those of the others.
class Block {
 public:
  // told: FrameworkSummary::Framework::told, common terms x rank.
  Block(const Kernel& kernel, const CommonTerms& common, std::vector<KernelPoint> rows, Matrix told)
      : kernel_(kernel), common_(common), rows_(std::move(rows)), told_(std::move(told)) {
    if (rows_.empty()) return;
    told_rows_ = transposed_product(told_, common_.of(rows_));
    factor_ = kernel_(rows_, rows_);
    add_product(factor_, told_rows_, -1);
    factor_.diagonal().array() += noise_of(kernel_.parameters);
    whole_ = factorise(factor_);
  }
  bool whole() const { return whole_; }
  // Variances of measurements at the points.
  Vector variances(const std::vector<KernelPoint>& points) const;

 private:
  struct Asked {
    std::vector<KernelPoint> points;
    Matrix told;
    Vector variance;  // without this framework's rows
  };
  Asked ask(const std::vector<KernelPoint>& points) const;
  // One column per point; its squared norm is the reduction of the variance by this framework's
  // rows.
  Matrix solved(const Asked& asked, const std::vector<size_t>& which) const;
  Vector reduced(const Asked& asked) const;

  const Kernel& kernel_;
  const CommonTerms& common_;
  std::vector<KernelPoint> rows_;
  Matrix told_;
  Matrix told_rows_;
  Matrix factor_;  // lower Cholesky factor
  bool whole_ = true;
};

Block::Asked Block::ask(const std::vector<KernelPoint>& points) const {
  Asked asked{points, transposed_product(told_, common_.of(points)), Vector(std::ssize(points))};
  for (size_t i = 0; i < points.size(); ++i) {
    const auto at = static_cast<Index>(i);
    asked.variance(at) = kernel_.variance(points[i]) + noise_of(kernel_.parameters) -
                         asked.told.col(at).squaredNorm();
  }
  return asked;
}

Matrix Block::solved(const Asked& asked, const std::vector<size_t>& which) const {
  Matrix k = kernel_(rows_, pick(asked.points, which));
  const Matrix told = asked.told(Eigen::seqN(0, asked.told.rows()), which);
  subtract_transposed_product(k, told_rows_, told);
  solve_lower(factor_, k);
  return k;
}

// At most `most` points with a bound above the allowed one, evenly spaced.
std::vector<size_t> choose(const Vector& bound, const Vector& allowed, size_t most) {
  std::vector<size_t> wanting;
  for (Index i = 0; i < bound.size(); ++i) {
    if (!(bound(i) <= allowed(i))) wanting.push_back(static_cast<size_t>(i));
  }
  if (wanting.size() <= most) return wanting;
  std::vector<size_t> some;
  for (size_t k = 0; k < most; ++k) some.push_back(wanting[k * wanting.size() / most]);
  return some;
}

// An orthonormal basis, extended by the orthogonal part of new columns.
class Basis {
 public:
  explicit Basis(Index rows) : vectors_(rows, 0) {}
  const Matrix& vectors() const { return vectors_; }
  Matrix beside(Matrix columns) const {
    // Twice, because rounding errors of a single pass would accumulate.
    for (int twice = 0; twice < 2; ++twice) {
      subtract_product(columns, vectors_, transposed_product(vectors_, columns));
    }
    return columns;
  }
  // Orthonormalises by the Cholesky factor of the products. The precision lost by squaring is below
  // kNothingNew.
  void add(const Matrix& columns) {
    const Matrix new_part = beside(columns);
    Matrix products = Matrix::Zero(columns.cols(), columns.cols());
    add_product(products, new_part, 1);
    products = products.selfadjointView<Eigen::Lower>();
    const double least = squared(kNothingNew) * columns.colwise().squaredNorm().maxCoeff();
    const auto column = [&products](size_t k) -> Vector {
      return products.col(static_cast<Index>(k));
    };
    const PivotedCholesky made =
        pivoted_cholesky(products.diagonal(), column, least, static_cast<size_t>(columns.cols()));
    const auto rank = static_cast<Index>(made.pivots.size());
    const Matrix factor = made.factor(made.pivots, Eigen::seqN(0, rank));
    Matrix fresh = new_part(Eigen::seqN(0, new_part.rows()), made.pivots);
    factor.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(fresh);
    vectors_.conservativeResize(Eigen::NoChange, vectors_.cols() + rank);
    vectors_.rightCols(rank) = fresh;
  }

 private:
  Matrix vectors_;
};

Vector Block::reduced(const Asked& asked) const {
  const KernelProducts products(kernel_.spec, kernel_.parameters, rows_, asked.points);
  // Per point, the products of `directions` with the columns of solved().
  const auto along = [&](const Matrix& directions) {
    Matrix weights = directions;
    solve_lower_transposed(factor_, weights);
    Matrix out(weights.cols(), std::ssize(asked.points));
    products.apply(weights.data(), static_cast<size_t>(weights.cols()), out.data());
    subtract_transposed_product(out, product(told_rows_, weights), asked.told);
    return out;
  };
  const Matrix probes = normal_numbers(factor_.rows(), static_cast<Index>(kRandomProbes));
  Basis basis(factor_.rows());
  Vector known = Vector::Zero(std::ssize(asked.points));
  Vector bound = asked.variance;  // upper bound of the remaining reduction
  Vector allowed = known;
  std::vector<size_t> some = choose(bound, allowed, kChosenAtFirst);
  for (; !some.empty(); some = choose(bound, allowed, kChosenAtOnce)) {
    const Matrix exact = solved(asked, some);
    const Index before = basis.vectors().cols();
    basis.add(exact);
    const Index added = basis.vectors().cols() - before;
    Matrix directions(factor_.rows(), added + probes.cols());
    directions << basis.vectors().rightCols(added), basis.beside(probes);
    const Matrix products_along = along(directions);
    known += products_along.topRows(added).colwise().squaredNorm().transpose();
    const Vector left = products_along.bottomRows(probes.cols()).colwise().squaredNorm();
    allowed = 2 * kReducedTolerance * (asked.variance - known);
    // A bound of 0 marks points already answered from all rows.
    for (Index i = 0; i < left.size(); ++i) {
      if (bound(i) != 0) bound(i) = left(i) / kLeastOfProbes;
    }
    for (size_t k = 0; k < some.size(); ++k) bound(static_cast<Index>(some[k])) = 0;
  }
  return known;
}

Vector Block::variances(const std::vector<KernelPoint>& points) const {
  const Asked asked = ask(points);
  if (rows_.empty()) return asked.variance;
  if (points.size() >= kPointsWorthReducing && rows_.size() >= kRowsWorthReducing)
    return asked.variance - reduced(asked);
  std::vector<size_t> all(points.size());
  std::iota(all.begin(), all.end(), 0);
  return asked.variance - solved(asked, all).colwise().squaredNorm().transpose();
}

// Information of these rows as a precision of the common terms; nullopt if they cannot be
// factorised.
std::optional<Matrix> precision_of(const Kernel& kernel, const CommonTerms& common,
                                   const std::vector<KernelPoint>& rows) {
  const Matrix terms = common.of(rows);
  Matrix k = kernel(rows, rows);
  add_product(k, terms, -1);
  k.diagonal().array() += noise_of(kernel.parameters);
  if (!factorise(k)) return std::nullopt;
  Matrix white = terms.transpose();
  solve_lower(k, white);
  return transposed_product(white, white);
}

// A factor A with A A' = I - (I + P)^-1 for a precision P.
std::vector<double> told_by(const Matrix& precision) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(precision);
  Matrix told(precision.rows(), precision.cols());
  Index rank = 0;
  for (Index k = 0; k < precision.cols(); ++k) {
    const double size = eigen.eigenvalues()(k) / (1 + eigen.eigenvalues()(k));
    if (size > kLeastTold) told.col(rank++) = eigen.eigenvectors().col(k) * std::sqrt(size);
  }
  return {told.data(), told.data() + told.rows() * rank};
}

}  // namespace

bool splits_by_framework(const KernelSpec& spec) {
  return std::none_of(spec.components.begin(), spec.components.end(), [](const auto& component) {
    return component.group == KernelGroup::kHardware || component.group == KernelGroup::kModel;
  });
}

std::optional<FrameworkSummary> summarise_frameworks(const KernelSpec& spec,
                                                     const std::vector<double>& parameters,
                                                     const std::vector<KernelPoint>& rows,
                                                     std::vector<double> weights) {
  if (!splits_by_framework(spec)) return std::nullopt;
  const Kernel kernel{spec, parameters};
  const Kernel common_kernel = common_part(spec, parameters);
  FrameworkSummary summary{common_pivots(common_kernel, rows), std::move(weights), {}};
  const CommonTerms common(common_kernel, pick(rows, summary.pivots));
  if (!common.whole()) return std::nullopt;
  const auto blocks = by_framework(rows);
  std::vector<Matrix> precisions;
  for (const auto& block : blocks) {
    std::optional<Matrix> precision = precision_of(kernel, common, pick(rows, block.second));
    if (!precision) return std::nullopt;
    precisions.push_back(*std::move(precision));
  }
  const auto rank = static_cast<Index>(summary.pivots.size());
  const auto told_to = [&](size_t listener) {
    Matrix sum = Matrix::Zero(rank, rank);
    for (size_t k = 0; k < precisions.size(); ++k) {
      if (k != listener) sum += precisions[k];
    }
    return told_by(sum);
  };
  size_t listener = 0;
  for (const auto& block : blocks)
    summary.frameworks.push_back({block.second.front(), told_to(listener++)});
  summary.frameworks.push_back({rows.size(), told_to(listener)});
  return summary;
}

std::optional<std::vector<GpAnswer>> predict_by_framework(const KernelSpec& spec,
                                                          const std::vector<double>& parameters,
                                                          const std::vector<KernelPoint>& rows,
                                                          double centre,
                                                          const FrameworkSummary& summary,
                                                          const std::vector<KernelPoint>& points) {
  const Kernel kernel{spec, parameters};
  const CommonTerms common(common_part(spec, parameters), pick(rows, summary.pivots));
  if (!common.whole()) return std::nullopt;
  std::vector<double> means(points.size());
  KernelProducts(spec, parameters, rows, points).apply(summary.weights.data(), 1, means.data());
  std::map<size_t, std::vector<size_t>> own = by_framework(rows);
  std::vector<GpAnswer> answers(points.size());
  for (const auto& [framework, which] : by_framework(points)) {
    const auto begin = own.find(framework);
    const bool has_rows = begin != own.end();
    const size_t row = has_rows ? begin->second.front() : rows.size();
    const auto told = std::find_if(summary.frameworks.begin(), summary.frameworks.end(),
                                   [row](const auto& of) { return of.row == row; });
    if (told == summary.frameworks.end()) return std::nullopt;
    const auto rank = static_cast<Index>(summary.pivots.size());
    const Eigen::Map<const Matrix> others(told->told.data(), rank,
                                          static_cast<Index>(told->told.size()) / rank);
    const Block block(kernel, common,
                      has_rows ? pick(rows, begin->second) : std::vector<KernelPoint>(), others);
    if (!block.whole()) return std::nullopt;
    for (size_t at = 0; at < which.size(); at += kPointsAtOnce) {
      const auto first = which.begin() + static_cast<ptrdiff_t>(at);
      const auto end =
          which.begin() + static_cast<ptrdiff_t>(std::min(at + kPointsAtOnce, which.size()));
      const std::vector<size_t> some(first, end);
      const Vector variance = block.variances(pick(points, some));
      for (size_t k = 0; k < some.size(); ++k) {
        const double noise = noise_of(parameters) + 1e-10;
        answers[some[k]] = {centre + means[some[k]],
                            std::sqrt(std::max(variance(static_cast<Index>(k)), noise))};
      }
    }
  }
  return answers;
}

}  // namespace assay
