// Problem: maximise the posterior density over some dozens of kernel parameters. One value with its
// gradient costs a Cholesky factor and an inverse of as many rows as the table has, so the number
// of evaluations must be small.
//
// Method: L-BFGS (Ceres, in search_library.cc) over the logarithms of the parameters. They keep the
// parameters positive and make the log-normal priors quadratic.
//
// Effect: 40 to 60 steps of 1.2 evaluations each. There are several minima: on 300 to 1,200 rows of
// the public table another library's L-BFGS ended between 2 % lower and 6 % higher
// (docs/decisions/0010-build-time.md).

#include <algorithm>
#include <cmath>

#include "base/dynamic_library.h"
#include "throughput/gp/gp.h"
#include "throughput/gp/search_library.h"

namespace assay {
namespace {

struct Posterior {
  const KernelSpec& spec;
  const std::vector<KernelPoint>& points;
  const std::vector<double>& y;
  const GpSearch& search;
};

bool evaluate(void* context, const double* log_parameters, double* cost, double* gradient) {
  const auto& posterior = *static_cast<const Posterior*>(context);
  std::vector<double> parameters(posterior.spec.names.size());
  for (size_t p = 0; p < parameters.size(); ++p) parameters[p] = std::exp(log_parameters[p]);
  std::vector<double> slope;
  const auto value = negative_log_posterior(posterior.spec, parameters, posterior.points,
                                            posterior.y, gradient != nullptr ? &slope : nullptr);
  if (!value) return false;
  *cost = *value;
  std::copy(slope.begin(), slope.end(), gradient);
  return std::isfinite(*cost);
}

bool go_on(void* context, int iteration, double value) {
  const GpSearch& search = static_cast<const Posterior*>(context)->search;
  return !search.progress || search.progress(iteration, value);
}

Result<AssaySearchMinimum*> search_function() {
  constexpr const char* kFile = "libassay_search.so";
  ASSAY_TRY_ASSIGN(
      const DynamicLibrary library,
      DynamicLibrary::open(libraries_beside_program(kFile),
                           std::string(kFile) + ", which searches parameters of models, is neither "
                                                "next to this program nor in ../lib/assay of it"));
  AssaySearchMinimum* function = nullptr;
  ASSAY_TRY(library.bind("assay_search_minimum", function));
  return function;
}

}  // namespace

Result<GpFound> find_parameters(const KernelSpec& spec, const std::vector<double>& start,
                                const std::vector<KernelPoint>& points,
                                const std::vector<double>& y, const GpSearch& search) {
  if (points.empty()) return Error{ErrorCode::kInvalidArgument, "no rows to learn from", "", -1};
  std::vector<double> theta(start.size());
  for (size_t p = 0; p < start.size(); ++p) theta[p] = std::log(start[p]);
  ASSAY_TRY_ASSIGN(AssaySearchMinimum* const find_minimum, search_function());
  Posterior posterior{spec, points, y, search};
  const AssaySearchProblem problem = {static_cast<int>(theta.size()), search.max_iterations,
                                      &posterior, evaluate, go_on};
  AssaySearchFound minimum = {};
  if (!find_minimum(&problem, theta.data(), &minimum)) {
    return Error{ErrorCode::kFormat,
                 std::string("the search for parameters failed: ") + minimum.message, "", -1};
  }
  GpFound found{{}, minimum.value, minimum.iterations};
  for (const double t : theta) found.parameters.push_back(std::exp(t));
  return found;
}

}  // namespace assay
