#include "throughput/linear_regression.h"

#include "base/factorisations.h"

namespace assay {
namespace {

// A column is dependent if its part that others do not explain is below this share of the largest.
constexpr double kDependent = 1e-10;

}  // namespace

double LinearModel::predict(const std::vector<double>& features) const {
  double value = intercept;
  for (size_t i = 0; i < coefficients.size(); ++i) value += coefficients[i] * features[i];
  return value;
}

LinearModel fit_linear(const std::vector<std::vector<double>>& rows,
                       const std::vector<double>& target) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  const auto columns = static_cast<Eigen::Index>(rows.front().size());
  Eigen::MatrixXd x(n, columns);
  Eigen::VectorXd y(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::vector<double>& row = rows[static_cast<size_t>(i)];
    for (Eigen::Index j = 0; j < columns; ++j) x(i, j) = row[static_cast<size_t>(j)];
    y(i) = target[static_cast<size_t>(i)];
  }
  const Eigen::RowVectorXd mean = x.colwise().mean();
  const double mean_y = y.mean();
  x.rowwise() -= mean;
  y.array() -= mean_y;
  // The solution of minimum norm. Columns of groups depend on each other (a device with one
  // framework only), and held-out rows may distinguish the solutions. The rank must not depend on
  // rounding: at a threshold of a few epsilon, coefficients of 10^14 cancel only in training.
  const Eigen::VectorXd solution = shortest_least_squares(x, y, kDependent);
  LinearModel model;
  model.intercept = mean_y - mean.dot(solution);
  model.coefficients.assign(solution.data(), solution.data() + columns);
  return model;
}

}  // namespace assay
