#pragma once

// Detects sensors with samples that keep a part of the previous one. A window after ramps cannot
// model them.

#include <vector>

namespace assay {

struct CarriedOver {
  double share = 0;  // weight of the previous sample
  double error = 0;  // its standard error; 0 if unknown
  // For sensors that the model covers, share stays within two errors.
  bool is_found() const { return error > 0 && share > 3.5 * error && share > 0.015; }
};

// read_w, modelled_w: per update, in order of time. If a sample keeps k of the previous one, its
// residual has two parts: k times the previous residual, and k times the drop of the model since
// then. Autocorrelated noise causes only the first part. Residuals are therefore regressed on both,
// and `share` is the coefficient of the second. It is below k if the fit adapted its response to
// the samples. All 0 with fewer than 30 updates.
CarriedOver carried_over(const std::vector<double>& read_w, const std::vector<double>& modelled_w);

}  // namespace assay
