// Problem: an answer costs a triangular solve with as many rows as the table has, and tables are
// queried at tens of thousands of points.
//
// Method: exact for 255 similar points or fewer. For more, the covariances with the rows are a
// low-rank product (cross_approximation.h), which is accepted if eight points agree with the exact
// answer. Held-out rows and links are in closed form on the same factor. Matrix products run on one
// thread, so that every machine writes the same bits.
//
// Effect: 9,600 points of one configuration differ by 1e-10 from the exact answers; a rank of 60 to
// 180 replaces 4,682 rows (docs/decisions/0006-throughput-gp.md).

#include "throughput/gp/gp.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/numbers.h"
#include "base/stats.h"
#include "throughput/gp/cross_approximation.h"
#include "throughput/gp/products.h"

namespace assay {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr Index kAnswersAtOnce = 512;
constexpr Index kInvertPlainly = 64;
// Minimum number of similar points for the approximation; fewer are as fast one by one. A rank
// above 1 / kLeastPointsPerRank of their number saves too little.
constexpr size_t kWorthApproximating = 256;
constexpr size_t kLeastPointsPerRank = 2;
constexpr size_t kHeldOutPoints = 8;
constexpr size_t kMaxDigestRank = 256;
// Accepted residual of covariances, in Euclidean norm over all rows. Answers then keep
// kGpTolerance, as the tests and the check of every digest confirm.
constexpr double kDigestThreshold = 1e-10;

// Replaces k by the lower Cholesky factor of k plus noise. Returns false if that is not positive
// definite.
bool factorise_noisy(Matrix& k, double noise) {
  k.diagonal().array() += squared(noise) + kGpJitter;
  return factorise(k);
}

// Inverts a lower triangular matrix in place, by halves, so that most of the time is in matrix
// products.
void invert_lower(Eigen::Ref<Matrix> l) {
  const Index n = l.rows();
  if (n <= kInvertPlainly) {
    Matrix inverse = Matrix::Identity(n, n);
    solve_lower(l, inverse);
    l.triangularView<Eigen::Lower>() = inverse;
    return;
  }
  const Index h = n / 2;
  invert_lower(l.topLeftCorner(h, h));
  invert_lower(l.bottomRightCorner(n - h, n - h));
  Matrix corner = l.bottomRightCorner(n - h, n - h).triangularView<Eigen::Lower>() *
                  l.bottomLeftCorner(n - h, h);
  l.bottomLeftCorner(n - h, h).noalias() =
      -corner * l.topLeftCorner(h, h).triangularView<Eigen::Lower>();
}

// Lower Cholesky factor of a block of K^-1, from the block's columns of the inverse of K's factor.
// The part above the diagonal is undefined.
Matrix precision_factor(const Matrix& columns) {
  Matrix precision = Matrix::Zero(columns.cols(), columns.cols());
  precision.selfadjointView<Eigen::Lower>().rankUpdate(columns.transpose());
  factorise(precision);
  return precision;
}

Error not_definite() {
  return Error{ErrorCode::kFormat,
               "the covariance of the rows is not positive definite: are there infinite or "
               "enormous values in the table?",
               "", -1};
}

}  // namespace

struct GaussianProcess::State {
  KernelSpec spec;
  std::vector<double> parameters;
  std::vector<KernelPoint> points;
  double centre = 0;
  Matrix factor;           // lower Cholesky; undefined above the diagonal
  Vector alpha;            // K^-1 (y - centre)
  mutable Matrix inverse;  // of the factor, zero above the diagonal; made at first use
  mutable std::once_flag inverse_made;

  // Covariances of the training points with others.
  Matrix with(const std::vector<KernelPoint>& of) const {
    Matrix k(std::ssize(points), std::ssize(of));
    kernel_matrix(spec, parameters, points, of, k.data());
    return k;
  }
  const Matrix& inverse_factor() const;
  // Columns of the inverse factor, from the first row in which any of them is not zero.
  Matrix columns_of(const std::vector<Index>& members) const;
  std::vector<double> means(const std::vector<KernelPoint>& asked, const Vector& weights) const;
  GpAnswer answer(const KernelPoint& point, double mean, double known) const;
  std::vector<GpAnswer> exactly(const std::vector<KernelPoint>& asked) const;
  std::vector<GpAnswer> by_low_rank(const std::vector<KernelPoint>& alike) const;
};

GaussianProcess::GaussianProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
GaussianProcess::~GaussianProcess() = default;

const std::vector<double>& GaussianProcess::parameters() const { return state_->parameters; }

std::vector<double> GaussianProcess::weights() const {
  return {state_->alpha.data(), state_->alpha.data() + state_->alpha.size()};
}

double GaussianProcess::noise_variance() const {
  return squared(state_->parameters.back()) + kGpJitter;
}

Result<GaussianProcess> GaussianProcess::fit(const KernelSpec& spec, std::vector<double> parameters,
                                             std::vector<KernelPoint> points,
                                             const std::vector<double>& y) {
  if (points.empty()) return Error{ErrorCode::kInvalidArgument, "no rows to learn from", "", -1};
  auto state = std::make_unique<State>();
  state->spec = spec;
  state->parameters = std::move(parameters);
  state->points = std::move(points);
  state->centre = median(y);
  const Index n = std::ssize(state->points);
  Matrix k(n, n);
  kernel_lower(state->spec, state->parameters, state->points, k.data());
  if (!factorise_noisy(k, state->parameters.back())) return not_definite();
  state->factor = std::move(k);
  state->alpha = Eigen::Map<const Vector>(y.data(), n).array() - state->centre;
  solve_lower_vector(state->factor, state->alpha);
  solve_lower_transposed_vector(state->factor, state->alpha);
  if (!state->alpha.allFinite()) return not_definite();
  return GaussianProcess(std::move(state));
}

const Matrix& GaussianProcess::State::inverse_factor() const {
  std::call_once(inverse_made, [this] {
    inverse = factor;
    inverse.triangularView<Eigen::StrictlyUpper>().setZero();
    invert_lower(inverse);
  });
  return inverse;
}

// mean: above the centre. known: reduction of the variance by the data.
GpAnswer GaussianProcess::State::answer(const KernelPoint& point, double mean, double known) const {
  const double prior = kernel_variance(spec, parameters, point);
  const double noise = squared(parameters.back()) + kGpJitter;
  return {centre + mean, std::sqrt(std::max(prior - known, 1e-10) + noise)};
}

std::vector<GpAnswer> GaussianProcess::State::exactly(const std::vector<KernelPoint>& asked) const {
  std::vector<GpAnswer> answers;
  answers.reserve(asked.size());
  for (size_t begin = 0; begin < asked.size(); begin += kAnswersAtOnce) {
    const size_t end = std::min(begin + static_cast<size_t>(kAnswersAtOnce), asked.size());
    const std::vector<KernelPoint> some(asked.begin() + static_cast<ptrdiff_t>(begin),
                                        asked.begin() + static_cast<ptrdiff_t>(end));
    Matrix k = with(some);
    const Vector mean = transposed_times(k, alpha);
    solve_lower(factor, k);
    const Vector known = k.colwise().squaredNorm();
    for (size_t i = 0; i < some.size(); ++i) {
      const auto at = static_cast<Index>(i);
      answers.push_back(answer(some[i], mean(at), known(at)));
    }
  }
  return answers;
}

// Answers by a low-rank product; empty if the tolerance is not met or nothing would be saved.
std::vector<GpAnswer> GaussianProcess::State::by_low_rank(
    const std::vector<KernelPoint>& alike) const {
  const CrossKernel kernel(spec, parameters, alike, points);
  // A residual e of a row of covariances moves the variance by at most 2 |v| |L^-1 e|. |v|^2 is at
  // most the prior variance, and |L^-1 e| at most |e| over the noise.
  const double noise = std::sqrt(squared(parameters.back()) + kGpJitter);
  const double prior = kernel_variance(spec, parameters, alike.front());
  const double threshold = kGpTolerance * noise * squared(noise) / std::sqrt(prior);
  const CrossApproximation cross =
      cross_approximation(kernel, threshold, alike.size() / kLeastPointsPerRank);
  if (!cross.converged) return {};
  const auto rank = static_cast<Index>(cross.rank);
  const Eigen::Map<const Matrix> left(cross.left.data(), std::ssize(alike), rank);
  Matrix right = Eigen::Map<const Matrix>(cross.right.data(), std::ssize(points), rank);
  const Vector mean = times(left, transposed_times(right, alpha));
  solve_lower(factor, right);
  const Matrix middle = transposed_product(right, right);
  const Vector known = product(left, middle).cwiseProduct(left).rowwise().sum();
  std::vector<GpAnswer> answers;
  answers.reserve(alike.size());
  for (size_t i = 0; i < alike.size(); ++i) {
    const auto at = static_cast<Index>(i);
    answers.push_back(answer(alike[i], mean(at), known(at)));
  }
  std::vector<KernelPoint> held_out;
  for (size_t k = 0; k < kHeldOutPoints; ++k)
    held_out.push_back(alike[(2 * k + 1) * alike.size() / (2 * kHeldOutPoints)]);
  const std::vector<GpAnswer> exact = exactly(held_out);
  for (size_t k = 0; k < kHeldOutPoints; ++k) {
    const GpAnswer& got = answers[(2 * k + 1) * alike.size() / (2 * kHeldOutPoints)];
    const bool close = std::abs(got.mean - exact[k].mean) <= kGpTolerance &&
                       std::abs(got.sd - exact[k].sd) <= kGpTolerance * exact[k].sd;
    if (!close) return {};
  }
  return answers;
}

std::vector<GpAnswer> GaussianProcess::predict_exactly(
    const std::vector<KernelPoint>& points) const {
  return state_->exactly(points);
}

std::vector<double> GaussianProcess::State::means(const std::vector<KernelPoint>& asked,
                                                  const Vector& weights) const {
  std::vector<double> means;
  means.reserve(asked.size());
  for (size_t begin = 0; begin < asked.size(); begin += kAnswersAtOnce) {
    const size_t end = std::min(begin + static_cast<size_t>(kAnswersAtOnce), asked.size());
    const std::vector<KernelPoint> some(asked.begin() + static_cast<ptrdiff_t>(begin),
                                        asked.begin() + static_cast<ptrdiff_t>(end));
    const Vector mean = transposed_times(with(some), weights);
    for (const double value : mean) means.push_back(centre + value);
  }
  return means;
}

std::vector<double> GaussianProcess::means_exactly(const std::vector<KernelPoint>& points) const {
  return state_->means(points, state_->alpha);
}

std::vector<GpAnswer> GaussianProcess::predict(const std::vector<KernelPoint>& points) const {
  if (points.size() < kWorthApproximating) return state_->exactly(points);
  std::vector<GpAnswer> answers(points.size());
  const auto put = [&answers](const std::vector<size_t>& which, const std::vector<GpAnswer>& some) {
    for (size_t k = 0; k < which.size(); ++k) answers[which[k]] = some[k];
  };
  std::vector<size_t> rest;
  for (const std::vector<size_t>& alike : alike_points(points)) {
    std::vector<GpAnswer> some;
    if (alike.size() >= kWorthApproximating) some = state_->by_low_rank(pick(points, alike));
    if (some.empty()) {
      rest.insert(rest.end(), alike.begin(), alike.end());
    } else {
      put(alike, some);
    }
  }
  put(rest, state_->exactly(pick(points, rest)));
  return answers;
}

std::optional<GpDigest> GaussianProcess::digest(const std::vector<KernelPoint>& alike) const {
  const State& s = *state_;
  const CrossKernel kernel(s.spec, s.parameters, alike, s.points);
  CrossApproximation cross = cross_approximation(kernel, kDigestThreshold, kMaxDigestRank);
  if (!cross.converged) return std::nullopt;
  const auto rank = static_cast<Index>(cross.rank);
  GpDigest digest{std::move(cross.pivot_rows), std::move(cross.pivot_columns), {}, {}};
  digest.mean.resize(cross.rank);
  digest.known.resize(cross.rank * cross.rank);
  Eigen::Map<Matrix> right(cross.right.data(), std::ssize(s.points), rank);
  Eigen::Map<Vector>(digest.mean.data(), rank) = transposed_times(right, s.alpha);
  solve_lower(s.factor, right);
  Eigen::Map<Matrix>(digest.known.data(), rank, rank) = transposed_product(right, right);
  return digest;
}

GaussianProcess::Links GaussianProcess::links(const std::vector<KernelPoint>& points) const {
  const State& s = *state_;
  Matrix v = s.with(points);
  solve_lower(s.factor, v);
  Vector with_first(std::ssize(points));
  kernel_matrix(s.spec, s.parameters, points, {points.front()}, with_first.data());
  with_first -= transposed_times(v, v.col(0));
  Links links;
  for (Index i = 0; i < std::ssize(points); ++i) {
    const double prior = kernel_variance(s.spec, s.parameters, points[static_cast<size_t>(i)]);
    links.variance.push_back(std::max(prior - v.col(i).squaredNorm(), 0.0));
    links.with_first.push_back(with_first(i));
  }
  return links;
}

Matrix GaussianProcess::State::columns_of(const std::vector<Index>& members) const {
  // Rows above the first member are zero.
  if (members.empty()) return Matrix(0, 0);
  const Index first = *std::min_element(members.begin(), members.end());
  return inverse_factor()(Eigen::lastN(std::ssize(points) - first), members);
}

std::vector<GpAnswer> GaussianProcess::leave_out(const std::vector<uint32_t>& block) const {
  const State& s = *state_;
  std::map<uint32_t, std::vector<Index>> blocks;
  for (size_t i = 0; i < block.size(); ++i) blocks[block[i]].push_back(static_cast<Index>(i));
  std::vector<GpAnswer> answers(block.size());
  for (const auto& [id, members] : blocks) {
    Matrix root = precision_factor(s.columns_of(members));
    invert_lower(root);
    // The covariance of the block given all other rows is root' root.
    const Vector white = root.triangularView<Eigen::Lower>() * s.alpha(members);
    const Vector missed = root.transpose().triangularView<Eigen::Upper>() * white;
    for (size_t i = 0; i < members.size(); ++i) {
      const auto at = static_cast<Index>(i);
      const double variance = root.col(at).tail(root.rows() - at).squaredNorm();
      answers[static_cast<size_t>(members[i])] = {missed(at), std::sqrt(std::max(variance, 1e-12))};
    }
  }
  return answers;
}

std::vector<double> GaussianProcess::means_without(const std::vector<size_t>& members,
                                                   const std::vector<KernelPoint>& points) const {
  const State& s = *state_;
  const std::vector<Index> left_out(members.begin(), members.end());
  const Matrix columns = s.columns_of(left_out);
  const Matrix root = precision_factor(columns);
  Vector missed = s.alpha(left_out);
  solve_lower_vector(root, missed);
  solve_lower_transposed_vector(root, missed);
  // Weights of the process without the members; zero at the members.
  const Vector white = times(columns, missed);
  const Vector weights = s.alpha - s.inverse_factor().bottomRows(white.size()).transpose() * white;
  return s.means(points, weights);
}

Result<double> negative_log_posterior(const KernelSpec& spec, const std::vector<double>& parameters,
                                      const std::vector<KernelPoint>& points,
                                      const std::vector<double>& y, std::vector<double>* gradient) {
  const Index n = std::ssize(points);
  Matrix k(n, n);
  kernel_lower(spec, parameters, points, k.data());
  if (!factorise_noisy(k, parameters.back())) return not_definite();
  const double log_det_half = k.diagonal().array().log().sum();
  k.triangularView<Eigen::StrictlyUpper>().setZero();
  const Vector residual = Eigen::Map<const Vector>(y.data(), n).array() - median(y);
  double value = log_det_half;
  if (gradient == nullptr) {
    Vector white = residual;
    solve_lower_vector(k, white);
    value += 0.5 * white.squaredNorm();
  } else {
    invert_lower(k);
    const Vector white = k.triangularView<Eigen::Lower>() * residual;
    value += 0.5 * white.squaredNorm();
    const Vector alpha = transposed_times(k, white);
    // 1/2 tr((K^-1 - alpha alpha') dK/dtheta): R&W 5.9.
    Matrix q = transposed_product(k, k);
    q.noalias() -= alpha * alpha.transpose();
    *gradient = kernel_gradient(spec, parameters, points, q.data());
    for (double& g : *gradient) g *= 0.5;
    gradient->push_back(q.trace() * squared(parameters.back()));
  }
  for (size_t p = 0; p < parameters.size(); ++p) {
    const double off = std::log(parameters[p] / spec.prior[p]);
    value += 0.5 * squared(off / spec.prior_log_sd);
    if (gradient != nullptr) (*gradient)[p] += off / squared(spec.prior_log_sd);
  }
  return value;
}

}  // namespace assay
