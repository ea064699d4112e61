// Problem: some dozens of parameters of a kernel whose posterior density is greatest. One value
// and its slope cost a Cholesky factor and an inverse of as many rows as the table has, so that
// what counts is how few of them are asked for.
//
// Method: L-BFGS (Ceres) over the logarithms of the parameters, which keeps them positive and
// makes the log-normal priors quadratic.
//
// Effect: 40 to 60 steps of 1.2 evaluations each. There are several minima: on 300 to 1,200 rows
// of the public table another library's L-BFGS ended between 2 % lower and 6 % higher
// (docs/decisions/0010-build-time.md).

#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>

#include <algorithm>
#include <cmath>

#include "throughput/gp/gp.h"

namespace assay {
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
