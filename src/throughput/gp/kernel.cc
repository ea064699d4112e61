#include "throughput/gp/kernel.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/numbers.h"
#include "throughput/gp/kernel_terms.h"

namespace assay {

bool is_static(KernelDim dim) {
  return dim != KernelDim::kLength && dim != KernelDim::kBatch && dim != KernelDim::kOverflow;
}

std::vector<KernelTerm> terms_of(const KernelSpec& spec, const std::vector<double>& parameters) {
  std::vector<KernelTerm> terms;
  size_t at = 0;
  for (const KernelComponent& component : spec.components) {
    KernelTerm term{.component = &component, .first = at, .variance = squared(parameters[at])};
    ++at;
    for (const KernelDim dim : component.dims) {
      const double rate = 0.5 / squared(parameters[at++]);
      if (dim == KernelDim::kLength) term.length = rate;
      if (dim == KernelDim::kBatch) term.batch = rate;
      if (dim == KernelDim::kOverflow) term.overflow = rate;
      if (is_static(dim)) term.fixed.emplace_back(index_of(dim), rate);
      term.has_shape |= dim == KernelDim::kLength || dim == KernelDim::kBatch;
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

KernelShapes shapes_of(const std::vector<KernelPoint>& points) {
  KernelShapes shapes;
  std::map<std::tuple<double, double, double>, uint32_t> seen;
  for (const KernelPoint& p : points) {
    const auto key = std::make_tuple(p.in_len, p.out_len, p.x[index_of(KernelDim::kBatch)]);
    const auto [at, is_new] = seen.emplace(key, static_cast<uint32_t>(shapes.distinct.size()));
    if (is_new) shapes.distinct.push_back(&p);
    shapes.of.push_back(at->second);
  }
  return shapes;
}

double length_distance(const KernelPoint& a, const KernelPoint& b) {
  return 0.5 * (squared(a.in_len - b.in_len) + squared(a.out_len - b.out_len));
}

double share_product(const KernelPoint& a, const KernelPoint& b) {
  double sum = 0;
  for (size_t k = 0; k < kKernelShares; ++k) sum += a.share[k] * b.share[k];
  return sum;
}

double factor_of(const KernelTerm& term, const KernelPoint& a, const KernelPoint& b) {
  const auto group = static_cast<size_t>(term.component->group);
  if (a.id[group] != b.id[group]) return 0;
  double exponent = 0;
  for (const auto& [dim, rate] : term.fixed) exponent += rate * squared(a.x[dim] - b.x[dim]);
  return term.variance * std::exp(-exponent);
}

double shape_factor(const KernelTerm& term, const KernelPoint& a, const KernelPoint& b) {
  const double batch = squared(a.x[index_of(KernelDim::kBatch)] - b.x[index_of(KernelDim::kBatch)]);
  return std::exp(-term.length * length_distance(a, b) - term.batch * batch);
}

namespace {

// Range of consecutive points with equal static dimensions and ids.
struct EqualRows {
  size_t begin = 0;
  size_t end = 0;
};

bool same_static(const KernelPoint& a, const KernelPoint& b) {
  if (a.id != b.id) return false;
  for (size_t d = 0; d < kKernelDims; ++d) {
    if (is_static(static_cast<KernelDim>(d)) && a.x[d] != b.x[d]) return false;
  }
  return true;
}

std::vector<EqualRows> runs_of(const std::vector<KernelPoint>& points) {
  std::vector<EqualRows> runs;
  for (size_t i = 0; i < points.size(); ++i) {
    if (runs.empty() || !same_static(points[runs.back().begin], points[i])) runs.push_back({i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

// Part of a component between two runs: a fixed factor, and the values that vary with the points.
struct PairTerm {
  double factor = 0;
  double overflow = 0;
  const double* table = nullptr;  // by shape of a, then of b; nullptr = 1
};

struct PairTerms {
  std::vector<PairTerm> varying;
  double constant = 0;
  double shares = 0;
};

class Evaluator {
 public:
  Evaluator(const KernelSpec& spec, const std::vector<double>& parameters,
            const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b)
      : terms_(terms_of(spec, parameters)),
        a_(a),
        b_(b),
        shapes_a_(shapes_of(a)),
        shapes_b_(shapes_of(b)),
        runs_a_(runs_of(a)),
        runs_b_(runs_of(b)) {
    for (const KernelTerm& term : terms_) tables_.push_back(table(term));
  }

  // lower: only on and below the diagonal, for points with themselves.
  void matrix(double* out, bool lower) const {
    PairTerms pair;
    for (const EqualRows& column : runs_b_) {
      for (const EqualRows& row : runs_a_) {
        if (lower && row.end <= column.begin) continue;
        between(a_[row.begin], b_[column.begin], pair);
        for (size_t j = column.begin; j < column.end; ++j) {
          const size_t first = lower ? std::max(row.begin, j) : row.begin;
          for (size_t i = first; i < row.end; ++i) out[j * a_.size() + i] = value(pair, i, j);
        }
      }
    }
  }

  void row(size_t i, double* out) const {
    PairTerms pair;
    for (const EqualRows& column : runs_b_) {
      between(a_[i], b_[column.begin], pair);
      for (size_t j = column.begin; j < column.end; ++j) out[j] = value(pair, i, j);
    }
  }

  void column(size_t j, double* out) const {
    PairTerms pair;
    for (const EqualRows& row : runs_a_) {
      between(a_[row.begin], b_[j], pair);
      for (size_t i = row.begin; i < row.end; ++i) out[i] = value(pair, i, j);
    }
  }

  size_t rows() const { return a_.size(); }
  size_t columns() const { return b_.size(); }
  const std::vector<KernelTerm>& terms() const { return terms_; }

  // Value of one term between points i and j. factor: factor_of() of their runs.
  double term_value(size_t t, size_t i, size_t j, double factor) const {
    const KernelTerm& term = terms_[t];
    if (term.component->form == KernelForm::kShares) return factor * share_product(a_[i], b_[j]);
    if (term.has_shape) factor *= tables_[t][shape_at(i, j)];
    const double apart = overflow_distance(i, j);
    return term.overflow > 0 && apart > 0 ? factor * std::exp(-term.overflow * apart) : factor;
  }

  double overflow_distance(size_t i, size_t j) const {
    return squared(a_[i].x[index_of(KernelDim::kOverflow)] -
                   b_[j].x[index_of(KernelDim::kOverflow)]);
  }

 private:
  size_t shape_at(size_t i, size_t j) const {
    return static_cast<size_t>(shapes_a_.of[i]) * shapes_b_.distinct.size() + shapes_b_.of[j];
  }

  std::vector<double> table(const KernelTerm& term) const {
    std::vector<double> values;
    if (!term.has_shape) return values;
    values.reserve(shapes_a_.distinct.size() * shapes_b_.distinct.size());
    for (const KernelPoint* a : shapes_a_.distinct) {
      for (const KernelPoint* b : shapes_b_.distinct) {
        values.push_back(shape_factor(term, *a, *b));
      }
    }
    return values;
  }

  void between(const KernelPoint& a, const KernelPoint& b, PairTerms& pair) const {
    pair.varying.clear();
    pair.constant = 0;
    pair.shares = 0;
    for (size_t t = 0; t < terms_.size(); ++t) {
      const KernelTerm& term = terms_[t];
      const double of_pair = factor_of(term, a, b);
      if (of_pair == 0) continue;
      if (term.component->form == KernelForm::kShares) {
        pair.shares += of_pair;
      } else if (term.has_shape || term.overflow > 0) {
        pair.varying.push_back(
            {of_pair, term.overflow, term.has_shape ? tables_[t].data() : nullptr});
      } else {
        pair.constant += of_pair;
      }
    }
  }

  double value(const PairTerms& pair, size_t i, size_t j) const {
    const size_t shape = shape_at(i, j);
    const double apart = overflow_distance(i, j);
    double sum = pair.constant;
    for (const PairTerm& term : pair.varying) {
      double part = term.table != nullptr ? term.factor * term.table[shape] : term.factor;
      if (apart > 0 && term.overflow > 0) part *= std::exp(-term.overflow * apart);
      sum += part;
    }
    if (pair.shares > 0) sum += pair.shares * share_product(a_[i], b_[j]);
    return sum;
  }

  std::vector<KernelTerm> terms_;
  const std::vector<KernelPoint>& a_;
  const std::vector<KernelPoint>& b_;
  KernelShapes shapes_a_;
  KernelShapes shapes_b_;
  std::vector<EqualRows> runs_a_;
  std::vector<EqualRows> runs_b_;
  std::vector<std::vector<double>> tables_;
};

double dim_distance(KernelDim dim, const KernelPoint& a, const KernelPoint& b) {
  if (dim == KernelDim::kLength) return length_distance(a, b);
  return squared(a.x[index_of(dim)] - b.x[index_of(dim)]);
}

}  // namespace

void kernel_matrix(const KernelSpec& spec, const std::vector<double>& parameters,
                   const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b,
                   double* out) {
  Evaluator(spec, parameters, a, b).matrix(out, false);
}

void kernel_lower(const KernelSpec& spec, const std::vector<double>& parameters,
                  const std::vector<KernelPoint>& points, double* out) {
  Evaluator(spec, parameters, points, points).matrix(out, true);
}

struct CrossKernel::State {
  Evaluator evaluator;
};

CrossKernel::CrossKernel(const KernelSpec& spec, const std::vector<double>& parameters,
                         const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b)
    : state_(new State{Evaluator(spec, parameters, a, b)}) {}
CrossKernel::~CrossKernel() = default;
size_t CrossKernel::rows() const { return state_->evaluator.rows(); }
size_t CrossKernel::columns() const { return state_->evaluator.columns(); }
void CrossKernel::row(size_t i, double* out) const { state_->evaluator.row(i, out); }
void CrossKernel::column(size_t j, double* out) const { state_->evaluator.column(j, out); }

std::vector<std::vector<size_t>> alike_points(const std::vector<KernelPoint>& points) {
  using Key = std::pair<std::array<uint32_t, kKernelGroups>, std::array<double, kKernelDims>>;
  std::map<Key, size_t> seen;
  std::vector<std::vector<size_t>> alike;
  for (size_t i = 0; i < points.size(); ++i) {
    Key key{points[i].id, points[i].x};
    for (size_t d = 0; d < kKernelDims; ++d) {
      if (!is_static(static_cast<KernelDim>(d))) key.second[d] = 0;
    }
    const auto [at, is_new] = seen.emplace(key, alike.size());
    if (is_new) alike.emplace_back();
    alike[at->second].push_back(i);
  }
  return alike;
}

double kernel_variance(const KernelSpec& spec, const std::vector<double>& parameters,
                       const KernelPoint& point) {
  double sum = 0;
  for (const KernelTerm& term : terms_of(spec, parameters)) {
    const bool shares = term.component->form == KernelForm::kShares;
    sum += term.variance * (shares ? share_product(point, point) : 1);
  }
  return sum;
}

std::vector<double> kernel_gradient(const KernelSpec& spec, const std::vector<double>& parameters,
                                    const std::vector<KernelPoint>& a, const double* weight) {
  const Evaluator evaluator(spec, parameters, a, a);
  std::vector<double> gradient(parameters.size() - 1, 0.0);
  const std::vector<EqualRows> runs = runs_of(a);
  for (const EqualRows& column : runs) {
    for (const EqualRows& row : runs) {
      for (size_t t = 0; t < evaluator.terms().size(); ++t) {
        const KernelTerm& term = evaluator.terms()[t];
        const double factor = factor_of(term, a[row.begin], a[column.begin]);
        if (factor == 0) continue;
        // d/dlog s = 2 k; d/dlog l = k d^2 / l^2.
        for (size_t j = column.begin; j < column.end; ++j) {
          for (size_t i = row.begin; i < row.end; ++i) {
            const double w = weight[j * a.size() + i] * evaluator.term_value(t, i, j, factor);
            gradient[term.first] += 2 * w;
            for (size_t k = 0; k < term.component->dims.size(); ++k) {
              gradient[term.first + 1 + k] += w *
                                              dim_distance(term.component->dims[k], a[i], a[j]) /
                                              squared(parameters[term.first + 1 + k]);
            }
          }
        }
      }
    }
  }
  return gradient;
}

std::vector<KernelPoint> pick(const std::vector<KernelPoint>& points,
                              const std::vector<size_t>& which) {
  std::vector<KernelPoint> some;
  some.reserve(which.size());
  for (const size_t i : which) some.push_back(points[i]);
  return some;
}

}  // namespace assay
