#pragma once

// Ordinary least squares with an intercept; of equally good solutions the one with the smallest
// coefficients, so columns that never vary and columns that repeat others are harmless.

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
