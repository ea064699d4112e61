#pragma once

// Tests if a sample keeps a part of the previous one. A window after ramps cannot model such a
// sensor.

#include <vector>

namespace assay {

struct CarriedOver {
  double share = 0;  // weight of the previous sample
  double error = 0;  // its standard error; 0 if unknown
  // Sensors that the model holds stay within two of these errors.
  bool is_found() const { return error > 0 && share > 3.5 * error && share > 0.015; }
};

// read_w, modelled_w: per update, in order. The residual of a sample that keeps k of the previous
// one has two parts: k times the previous residual, and k times the drop of the model since then.
// Autocorrelated noise causes only the first part. Residuals are therefore regressed on both, and
// the coefficient of the second counts. A fit that adapts its response to the samples leaves less
// than k.
CarriedOver carried_over(const std::vector<double>& read_w, const std::vector<double>& modelled_w);

}  // namespace assay
