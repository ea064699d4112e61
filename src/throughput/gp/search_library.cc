#include "throughput/gp/search_library.h"

#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>

#include <cstdio>

namespace {

class SearchedPosterior final : public ceres::FirstOrderFunction {
 public:
  explicit SearchedPosterior(const AssaySearchProblem& problem) : problem_(problem) {}
  bool Evaluate(const double* at, double* value, double* gradient) const override {
    return problem_.evaluate(problem_.context, at, value, gradient);
  }
  int NumParameters() const override { return problem_.parameters; }

 private:
  const AssaySearchProblem& problem_;
};

class Reporter final : public ceres::IterationCallback {
 public:
  explicit Reporter(const AssaySearchProblem& problem) : problem_(problem) {}
  ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) override {
    return problem_.progress(problem_.context, summary.iteration, summary.cost)
               ? ceres::SOLVER_CONTINUE
               : ceres::SOLVER_TERMINATE_SUCCESSFULLY;
  }

 private:
  const AssaySearchProblem& problem_;
};

}  // namespace

bool assay_search_minimum(const AssaySearchProblem* asked, double* at, AssaySearchFound* found) {
  const ceres::GradientProblem problem(new SearchedPosterior(*asked));
  Reporter reporter(*asked);
  ceres::GradientProblemSolver::Options options;
  options.line_search_direction_type = ceres::LBFGS;
  options.max_num_iterations = asked->max_iterations;
  options.logging_type = ceres::SILENT;
  options.function_tolerance = 1e-6;
  options.callbacks.push_back(&reporter);
  ceres::GradientProblemSolver::Summary summary;
  ceres::Solve(options, problem, at, &summary);
  found->value = summary.final_cost;
  found->iterations = static_cast<int>(summary.iterations.size()) - 1;
  std::snprintf(found->message, sizeof(found->message), "%s", summary.message.c_str());
  return summary.IsSolutionUsable();
}
