#include "throughput/gp/kernel_products.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>

#include "base/factorisations.h"
#include "base/numbers.h"
#include "throughput/gp/kernel_terms.h"

namespace assay {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Number of doubles of intermediate sums computed at once; fits in a cache.
constexpr Index kSumsAtOnce = 1 << 19;

double overflow_of(const KernelPoint& point) { return point.x[index_of(KernelDim::kOverflow)]; }

// Ignored part of a term's values over lengths and batches, relative to the largest; below
// rounding.
constexpr double kSameValue = 1e-14;

// Rows of one configuration without overflow, or points of one configuration.
struct Members {
  const KernelPoint* of = nullptr;  // any
  std::vector<size_t> which;
};

// Factor of a term from lengths and batches, between rows and points: of_rows * of_points. Both are
// smooth, so their rank is far below the number of lengths and batches.
struct ShapeValues {
  Matrix of_rows;    // shapes of rows x rank
  Matrix of_points;  // rank x shapes of points
};

ShapeValues shape_values(const KernelTerm& term, const KernelShapes& rows,
                         const KernelShapes& points) {
  Matrix values(static_cast<Index>(rows.distinct.size()),
                static_cast<Index>(points.distinct.size()));
  if (!term.has_shape) return {Matrix::Ones(values.rows(), 1), Matrix::Ones(1, values.cols())};
  for (Index p = 0; p < values.cols(); ++p) {
    for (Index r = 0; r < values.rows(); ++r) {
      values(r, p) = shape_factor(term, *rows.distinct[static_cast<size_t>(r)],
                                  *points.distinct[static_cast<size_t>(p)]);
    }
  }
  const Matrix basis = column_basis(values, kSameValue);
  return {basis, basis.transpose() * values};
}

}  // namespace

struct KernelProducts::State {
  const KernelSpec& spec;
  const std::vector<double>& parameters;
  const std::vector<KernelPoint>& rows;
  const std::vector<KernelPoint>& points;
  std::vector<KernelTerm> terms;
  KernelShapes row_shapes;
  KernelShapes point_shapes;
  std::vector<Members> row_runs;
  std::vector<Members> point_runs;
  std::vector<ShapeValues> shapes;  // per term
  std::vector<size_t> odd;          // rows with overflow: few, handled one by one
  Matrix odd_covariances;           // odd rows x points

  // Adds the contribution of the terms of one group between these runs.
  void add(KernelGroup group, const std::vector<const Members*>& from,
           const std::vector<const Members*>& to, const Matrix& weights,
           Eigen::Map<Matrix>& out) const;
  void add_shares(const KernelTerm& term, const std::vector<const Members*>& from,
                  const std::vector<const Members*>& to, const Matrix& weights,
                  Eigen::Map<Matrix>& out) const;
  void add_shapes(size_t term, const std::vector<const Members*>& from,
                  const std::vector<const Members*>& to, const Matrix& weights,
                  Eigen::Map<Matrix>& out) const;
  void spread(size_t term, const Eigen::Ref<const Matrix>& sums, const Members& to,
              Eigen::Map<Matrix>& out) const;
};

KernelProducts::KernelProducts(const KernelSpec& spec, const std::vector<double>& parameters,
                               const std::vector<KernelPoint>& rows,
                               const std::vector<KernelPoint>& points)
    : state_(new State{spec,
                       parameters,
                       rows,
                       points,
                       terms_of(spec, parameters),
                       shapes_of(rows),
                       shapes_of(points),
                       {},
                       {},
                       {},
                       {},
                       {}}) {
  State& s = *state_;
  for (const std::vector<size_t>& alike : alike_points(rows)) {
    Members run{&rows[alike.front()], {}};
    for (const size_t i : alike) (overflow_of(rows[i]) > 0 ? s.odd : run.which).push_back(i);
    if (!run.which.empty()) s.row_runs.push_back(std::move(run));
  }
  for (std::vector<size_t>& alike : alike_points(points)) {
    const KernelPoint* of = &points[alike.front()];
    s.point_runs.push_back({of, std::move(alike)});
  }
  for (const KernelTerm& term : s.terms)
    s.shapes.push_back(shape_values(term, s.row_shapes, s.point_shapes));
  if (s.odd.empty()) return;
  s.odd_covariances.resize(static_cast<Index>(s.odd.size()), static_cast<Index>(points.size()));
  kernel_matrix(spec, parameters, pick(rows, s.odd), points, s.odd_covariances.data());
}

KernelProducts::~KernelProducts() = default;

void KernelProducts::apply(const double* weights, size_t count, double* out) const {
  const State& s = *state_;
  const auto width = static_cast<Index>(count);
  // Transposed: one column of weights per row.
  const Matrix given =
      Eigen::Map<const Matrix>(weights, static_cast<Index>(s.rows.size()), width).transpose();
  Eigen::Map<Matrix> sums(out, width, static_cast<Index>(s.points.size()));
  if (s.odd.empty()) {
    sums.setZero();
  } else {
    sums.noalias() = given(Eigen::seqN(0, given.rows()), s.odd) * s.odd_covariances;
  }
  for (size_t g = 0; g < kKernelGroups; ++g) {
    const auto group = static_cast<KernelGroup>(g);
    const auto uses = [group](const KernelTerm& term) { return term.component->group == group; };
    if (std::none_of(s.terms.begin(), s.terms.end(), uses)) continue;
    std::map<uint32_t, std::vector<const Members*>> from;
    std::map<uint32_t, std::vector<const Members*>> to;
    for (const Members& run : s.row_runs) from[run.of->id[g]].push_back(&run);
    for (const Members& run : s.point_runs) to[run.of->id[g]].push_back(&run);
    for (const auto& [id, runs] : to) {
      const auto at = from.find(id);
      if (at != from.end()) s.add(group, at->second, runs, given, sums);
    }
  }
}

void KernelProducts::State::add(KernelGroup group, const std::vector<const Members*>& from,
                                const std::vector<const Members*>& to, const Matrix& weights,
                                Eigen::Map<Matrix>& out) const {
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].component->group != group) continue;
    if (terms[t].component->form == KernelForm::kShares) {
      add_shares(terms[t], from, to, weights, out);
    } else {
      add_shapes(t, from, to, weights, out);
    }
  }
}

void KernelProducts::State::add_shapes(size_t term, const std::vector<const Members*>& from,
                                       const std::vector<const Members*>& to, const Matrix& weights,
                                       Eigen::Map<Matrix>& out) const {
  const Matrix& of_rows = shapes[term].of_rows;
  const Index rank = of_rows.cols();
  Matrix added(weights.rows() * rank, static_cast<Index>(from.size()));  // per run of rows
  for (size_t d = 0; d < from.size(); ++d) {
    std::vector<uint32_t> of;
    for (const size_t i : from[d]->which) of.push_back(row_shapes.of[i]);
    const Matrix given = weights(Eigen::seqN(0, weights.rows()), from[d]->which);
    const Matrix values = of_rows(of, Eigen::seqN(0, rank));
    Eigen::Map<Matrix>(added.col(static_cast<Index>(d)).data(), weights.rows(), rank).noalias() =
        given * values;
  }
  const Index at_once = std::max<Index>(1, kSumsAtOnce / added.rows());
  for (Index begin = 0; begin < static_cast<Index>(to.size()); begin += at_once) {
    const Index some = std::min(at_once, static_cast<Index>(to.size()) - begin);
    Matrix factors(static_cast<Index>(from.size()), some);
    for (Index c = 0; c < some; ++c) {
      for (size_t d = 0; d < from.size(); ++d) {
        factors(static_cast<Index>(d), c) =
            factor_of(terms[term], *from[d]->of, *to[static_cast<size_t>(begin + c)]->of);
      }
    }
    const Matrix sums = added * factors;
    for (Index c = 0; c < some; ++c) {
      const Eigen::Map<const Matrix> of_config(sums.col(c).data(), weights.rows(), rank);
      spread(term, of_config, *to[static_cast<size_t>(begin + c)], out);
    }
  }
}

// Distributes the sums over the points of one configuration. sums: per weight, in the basis of the
// term's shape values.
void KernelProducts::State::spread(size_t term, const Eigen::Ref<const Matrix>& sums,
                                   const Members& to, Eigen::Map<Matrix>& out) const {
  const double rate = terms[term].overflow;
  Matrix values(sums.cols(), static_cast<Index>(to.which.size()));
  for (size_t k = 0; k < to.which.size(); ++k) {
    auto column = values.col(static_cast<Index>(k));
    column = shapes[term].of_points.col(point_shapes.of[to.which[k]]);
    const double over = overflow_of(points[to.which[k]]);
    if (rate > 0 && over > 0) column *= std::exp(-rate * squared(over));
  }
  const Matrix made = sums * values;
  for (size_t k = 0; k < to.which.size(); ++k)
    out.col(static_cast<Index>(to.which[k])) += made.col(static_cast<Index>(k));
}

void KernelProducts::State::add_shares(const KernelTerm& term,
                                       const std::vector<const Members*>& from,
                                       const std::vector<const Members*>& to, const Matrix& weights,
                                       Eigen::Map<Matrix>& out) const {
  using Shares = Eigen::Map<const Eigen::Matrix<double, static_cast<int>(kKernelShares), 1>>;
  std::vector<Matrix> sums;  // per run of rows: weights x shares
  for (const Members* run : from) {
    Matrix& sum = sums.emplace_back(Matrix::Zero(weights.rows(), kKernelShares));
    for (const size_t i : run->which) {
      sum.noalias() +=
          weights.col(static_cast<Index>(i)) * Shares(rows[i].share.data()).transpose();
    }
  }
  for (const Members* run : to) {
    Matrix all = Matrix::Zero(weights.rows(), kKernelShares);
    for (size_t d = 0; d < from.size(); ++d)
      all += factor_of(term, *from[d]->of, *run->of) * sums[d];
    for (const size_t p : run->which)
      out.col(static_cast<Index>(p)).noalias() += all * Shares(points[p].share.data());
  }
}

}  // namespace assay
