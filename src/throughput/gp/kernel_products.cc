#include "throughput/gp/kernel_products.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "throughput/gp/kernel_terms.h"

namespace assay {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Numbers of the sums that are made for configurations at once: fits a cache.
constexpr Index kSumsAtOnce = 1 << 19;

double overflow_of(const KernelPoint& point) { return point.x[index_of(KernelDim::kOverflow)]; }

// Rows of one configuration without overflow, or points of one configuration.
struct Members {
  const KernelPoint* of = nullptr;  // any
  std::vector<size_t> which;
};

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
  std::vector<Matrix> tables;  // per term: shapes of rows x shapes of points
  std::vector<size_t> odd;     // rows with overflow: few, and each its own
  Matrix odd_covariances;      // odd rows x points

  void tabulate();
  // Adds what the terms of one group between these runs give.
  void add(KernelGroup group, const std::vector<const Members*>& from,
           const std::vector<const Members*>& to, const Matrix& weights,
           Eigen::Map<Matrix>& out) const;
  void add_shares(const KernelTerm& term, const std::vector<const Members*>& from,
                  const std::vector<const Members*>& to, const Matrix& weights,
                  Eigen::Map<Matrix>& out) const;
  void add_shapes(size_t term, const Matrix& by_shape, const std::vector<const Members*>& from,
                  const std::vector<const Members*>& to, Eigen::Map<Matrix>& out) const;
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
  s.tabulate();
}

KernelProducts::~KernelProducts() = default;

void KernelProducts::State::tabulate() {
  for (const KernelTerm& term : terms) {
    Matrix& table = tables.emplace_back();
    if (!term.has_shape) continue;
    table.resize(static_cast<Index>(row_shapes.distinct.size()),
                 static_cast<Index>(point_shapes.distinct.size()));
    for (Index p = 0; p < table.cols(); ++p) {
      for (Index r = 0; r < table.rows(); ++r) {
        table(r, p) = shape_factor(term, *row_shapes.distinct[static_cast<size_t>(r)],
                                   *point_shapes.distinct[static_cast<size_t>(p)]);
      }
    }
  }
  if (odd.empty()) return;
  odd_covariances.resize(static_cast<Index>(odd.size()), static_cast<Index>(points.size()));
  kernel_matrix(spec, parameters, pick(rows, odd), points, odd_covariances.data());
}

void KernelProducts::apply(const double* weights, size_t count, double* out) const {
  const State& s = *state_;
  const auto width = static_cast<Index>(count);
  // Per row the weights that it has.
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
  const Index count = weights.rows();
  Matrix by_shape;  // per run of rows: its weights by shape
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].component->group != group) continue;
    if (terms[t].component->form == KernelForm::kShares) {
      add_shares(terms[t], from, to, weights, out);
      continue;
    }
    if (by_shape.size() == 0) {
      by_shape.setZero(count * static_cast<Index>(row_shapes.distinct.size()),
                       static_cast<Index>(from.size()));
      for (size_t d = 0; d < from.size(); ++d) {
        for (const size_t i : from[d]->which) {
          by_shape.col(static_cast<Index>(d)).segment(row_shapes.of[i] * count, count) +=
              weights.col(static_cast<Index>(i));
        }
      }
    }
    add_shapes(t, by_shape, from, to, out);
  }
}

void KernelProducts::State::add_shapes(size_t term, const Matrix& by_shape,
                                       const std::vector<const Members*>& from,
                                       const std::vector<const Members*>& to,
                                       Eigen::Map<Matrix>& out) const {
  const auto shapes = static_cast<Index>(row_shapes.distinct.size());
  const Index at_once = std::max<Index>(1, kSumsAtOnce / by_shape.rows());
  for (Index begin = 0; begin < static_cast<Index>(to.size()); begin += at_once) {
    const Index some = std::min(at_once, static_cast<Index>(to.size()) - begin);
    Matrix factors(static_cast<Index>(from.size()), some);
    for (Index c = 0; c < some; ++c) {
      for (size_t d = 0; d < from.size(); ++d) {
        factors(static_cast<Index>(d), c) =
            factor_of(terms[term], *from[d]->of, *to[static_cast<size_t>(begin + c)]->of);
      }
    }
    const Matrix sums = by_shape * factors;
    for (Index c = 0; c < some; ++c) {
      const Eigen::Map<const Matrix> of_config(sums.col(c).data(), sums.rows() / shapes, shapes);
      spread(term, of_config, *to[static_cast<size_t>(begin + c)], out);
    }
  }
}

// Over the points of one configuration; sums: per weight and shape of the rows.
void KernelProducts::State::spread(size_t term, const Eigen::Ref<const Matrix>& sums,
                                   const Members& to, Eigen::Map<Matrix>& out) const {
  const KernelTerm& which = terms[term];
  Matrix table = Matrix::Ones(sums.cols(), static_cast<Index>(to.which.size()));
  for (size_t k = 0; k < to.which.size(); ++k) {
    auto column = table.col(static_cast<Index>(k));
    if (which.has_shape) column = tables[term].col(point_shapes.of[to.which[k]]);
    const double over = overflow_of(points[to.which[k]]);
    if (which.overflow > 0 && over > 0) column *= std::exp(-which.overflow * squared(over));
  }
  const Matrix made = sums * table;
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
