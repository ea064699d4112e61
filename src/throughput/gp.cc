#include "throughput/gp.h"

#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "base/stats.h"

#ifdef ASSAY_OPENBLAS
extern "C" void openblas_set_num_threads(int threads);
#endif

namespace assay {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Keeps the matrix positive definite when rows repeat and the noise is small.
constexpr double kJitter = 1e-6;
constexpr Index kPointsAtOnce = 512;
constexpr Index kInvertPlainly = 64;

double squared(double x) { return x * x; }

Index count(const std::vector<KernelPoint>& points) { return static_cast<Index>(points.size()); }

// Lower Cholesky factor of the covariance with noise, in place; false = not positive definite.
bool factorise(Matrix& k, double noise) {
  k.diagonal().array() += squared(noise) + kJitter;
  const Eigen::LLT<Eigen::Ref<Matrix>> llt(k);
  return llt.info() == Eigen::Success && k.diagonal().allFinite();
}

// Inverse of a lower triangular matrix in place: by halves, so that the work is products.
void invert_lower(Eigen::Ref<Matrix> l) {
  const Index n = l.rows();
  if (n <= kInvertPlainly) {
    const Matrix inverse = l.triangularView<Eigen::Lower>().solve(Matrix::Identity(n, n));
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

// Sums in another order have other last bits: one thread, so that every machine writes the same.
void one_thread() {
#ifdef ASSAY_OPENBLAS
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
#endif
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
  Matrix inverse_factor;  // of the lower Cholesky factor; above the diagonal zero
  Vector alpha;           // K^-1 (y - centre)

  // Covariances of the training points with others.
  Matrix with(const std::vector<KernelPoint>& of) const {
    Matrix k(count(points), count(of));
    kernel_matrix(spec, parameters, points, of, k.data());
    return k;
  }
};

GaussianProcess::GaussianProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
GaussianProcess::~GaussianProcess() = default;

const std::vector<double>& GaussianProcess::parameters() const { return state_->parameters; }

double GaussianProcess::noise_variance() const {
  return squared(state_->parameters.back()) + kJitter;
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
  one_thread();
  const Index n = count(state->points);
  Matrix k(n, n);
  kernel_matrix(state->spec, state->parameters, state->points, state->points, k.data());
  if (!factorise(k, state->parameters.back())) return not_definite();
  k.triangularView<Eigen::StrictlyUpper>().setZero();
  invert_lower(k);
  state->inverse_factor = std::move(k);
  const auto lower = state->inverse_factor.triangularView<Eigen::Lower>();
  const Vector residual = Eigen::Map<const Vector>(y.data(), n).array() - state->centre;
  const Vector white = lower * residual;
  state->alpha = state->inverse_factor.transpose() * white;
  if (!state->alpha.allFinite()) return not_definite();
  return GaussianProcess(std::move(state));
}

std::vector<GpAnswer> GaussianProcess::predict(const std::vector<KernelPoint>& points) const {
  const State& s = *state_;
  std::vector<GpAnswer> answers;
  answers.reserve(points.size());
  const double noise = noise_variance();
  for (size_t begin = 0; begin < points.size(); begin += kPointsAtOnce) {
    const size_t end = std::min(begin + static_cast<size_t>(kPointsAtOnce), points.size());
    const std::vector<KernelPoint> some(points.begin() + static_cast<ptrdiff_t>(begin),
                                        points.begin() + static_cast<ptrdiff_t>(end));
    Matrix k = s.with(some);
    const Vector mean = k.transpose() * s.alpha;
    k = s.inverse_factor.triangularView<Eigen::Lower>() * k;
    const Vector known = k.colwise().squaredNorm();
    for (size_t i = 0; i < some.size(); ++i) {
      const auto at = static_cast<Index>(i);
      const double prior = kernel_variance(s.spec, s.parameters, some[i]);
      answers.push_back(
          {s.centre + mean(at), std::sqrt(std::max(prior - known(at), 1e-10) + noise)});
    }
  }
  return answers;
}

GaussianProcess::Links GaussianProcess::links(const std::vector<KernelPoint>& points) const {
  const State& s = *state_;
  const Matrix v = s.inverse_factor.triangularView<Eigen::Lower>() * s.with(points);
  Vector with_first(count(points));
  kernel_matrix(s.spec, s.parameters, points, {points.front()}, with_first.data());
  with_first -= v.transpose() * v.col(0);
  Links links;
  for (Index i = 0; i < count(points); ++i) {
    const double prior = kernel_variance(s.spec, s.parameters, points[static_cast<size_t>(i)]);
    links.variance.push_back(std::max(prior - v.col(i).squaredNorm(), 0.0));
    links.with_first.push_back(with_first(i));
  }
  return links;
}

std::vector<GpAnswer> GaussianProcess::leave_out(const std::vector<uint32_t>& block) const {
  const State& s = *state_;
  std::map<uint32_t, std::vector<Index>> blocks;
  for (size_t i = 0; i < block.size(); ++i) blocks[block[i]].push_back(static_cast<Index>(i));
  std::vector<GpAnswer> answers(block.size());
  for (const auto& [id, members] : blocks) {
    // The block of K^-1; its inverse is the covariance of the block given all other rows.
    const Matrix columns = s.inverse_factor(Eigen::all, members);
    Matrix precision(columns.cols(), columns.cols());
    precision.noalias() = columns.transpose() * columns;
    const Matrix covariance =
        precision.llt().solve(Matrix::Identity(precision.rows(), precision.cols()));
    const Vector missed = covariance * s.alpha(members);
    for (size_t i = 0; i < members.size(); ++i) {
      const auto at = static_cast<Index>(i);
      answers[static_cast<size_t>(members[i])] = {missed(at),
                                                  std::sqrt(std::max(covariance(at, at), 1e-12))};
    }
  }
  return answers;
}

Result<double> negative_log_posterior(const KernelSpec& spec, const std::vector<double>& parameters,
                                      const std::vector<KernelPoint>& points,
                                      const std::vector<double>& y, std::vector<double>* gradient) {
  one_thread();
  const Index n = count(points);
  Matrix k(n, n);
  kernel_matrix(spec, parameters, points, points, k.data());
  if (!factorise(k, parameters.back())) return not_definite();
  const double log_det_half = k.diagonal().array().log().sum();
  k.triangularView<Eigen::StrictlyUpper>().setZero();
  const Vector residual = Eigen::Map<const Vector>(y.data(), n).array() - median(y);
  double value = log_det_half;
  if (gradient == nullptr) {
    const Vector white = k.triangularView<Eigen::Lower>().solve(residual);
    value += 0.5 * white.squaredNorm();
  } else {
    invert_lower(k);
    const Vector white = k.triangularView<Eigen::Lower>() * residual;
    value += 0.5 * white.squaredNorm();
    const Vector alpha = k.transpose() * white;
    // 1/2 tr((K^-1 - alpha alpha') dK/dtheta): R&W 5.9.
    Matrix q = k.transpose() * k;
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

namespace {

class Posterior final : public ceres::FirstOrderFunction {
 public:
  Posterior(const KernelSpec& spec, const std::vector<KernelPoint>& points,
            const std::vector<double>& y)
      : spec_(spec), points_(points), y_(y) {}

  bool Evaluate(const double* log_parameters, double* cost, double* gradient) const override {
    std::vector<double> parameters(spec_.names.size());
    for (size_t p = 0; p < parameters.size(); ++p) parameters[p] = std::exp(log_parameters[p]);
    std::vector<double> slope;
    const auto value = negative_log_posterior(spec_, parameters, points_, y_,
                                              gradient != nullptr ? &slope : nullptr);
    if (!value) return false;
    *cost = *value;
    std::copy(slope.begin(), slope.end(), gradient);
    return std::isfinite(*cost);
  }
  int NumParameters() const override { return static_cast<int>(spec_.names.size()); }

 private:
  const KernelSpec& spec_;
  const std::vector<KernelPoint>& points_;
  const std::vector<double>& y_;
};

class Reporter final : public ceres::IterationCallback {
 public:
  explicit Reporter(const GpSearch& search) : search_(search) {}
  ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) override {
    const bool go_on = !search_.progress || search_.progress(summary.iteration, summary.cost);
    return go_on ? ceres::SOLVER_CONTINUE : ceres::SOLVER_TERMINATE_SUCCESSFULLY;
  }

 private:
  const GpSearch& search_;
};

}  // namespace

Result<GpFound> find_parameters(const KernelSpec& spec, const std::vector<double>& start,
                                const std::vector<KernelPoint>& points,
                                const std::vector<double>& y, const GpSearch& search) {
  if (points.empty()) return Error{ErrorCode::kInvalidArgument, "no rows to learn from", "", -1};
  std::vector<double> theta(start.size());
  for (size_t p = 0; p < start.size(); ++p) theta[p] = std::log(start[p]);
  const ceres::GradientProblem problem(new Posterior(spec, points, y));
  Reporter reporter(search);
  ceres::GradientProblemSolver::Options options;
  options.line_search_direction_type = ceres::LBFGS;
  options.max_num_iterations = search.max_iterations;
  options.logging_type = ceres::SILENT;
  options.function_tolerance = 1e-6;
  options.callbacks.push_back(&reporter);
  ceres::GradientProblemSolver::Summary summary;
  ceres::Solve(options, problem, theta.data(), &summary);
  if (!summary.IsSolutionUsable()) {
    return Error{ErrorCode::kFormat, "the search for parameters failed: " + summary.message, "",
                 -1};
  }
  GpFound found{{}, summary.final_cost, static_cast<int>(summary.iterations.size()) - 1};
  for (const double t : theta) found.parameters.push_back(std::exp(t));
  return found;
}

}  // namespace assay
