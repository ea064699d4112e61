#pragma once

// Ordinary least squares with an intercept. Among equally good solutions the one of minimum norm is
// used, so constant and repeated columns are harmless.

#include <vector>

namespace assay {

struct LinearModel {
  double intercept = 0;
  std::vector<double> coefficients;

  double predict(const std::vector<double>& features) const;
};

// rows: one feature vector each, all of one length; not empty.
LinearModel fit_linear(const std::vector<std::vector<double>>& rows,
                       const std::vector<double>& target);

}  // namespace assay
