#pragma once

// Does a reading keep a part of the one before it? No window behind ramps resembles such a sensor.

#include <vector>

namespace assay {

struct CarriedOver {
  double share = 0;  // of the reading before
  double error = 0;  // standard error of it; 0: not known
  // Sensors that the model holds stay within two of these errors.
  bool is_found() const { return error > 0 && share > 3.5 * error && share > 0.015; }
};

// read_w, modelled_w: per update, in their order. A reading that keeps k of the one before it is
// off the model by k of what that one was off, and by k of what the model fell by since; noise that
// repeats itself makes the first and not the second. So residuals are regressed on both, and the
// second counts. A fit that bends its response towards the readings leaves less than k.
CarriedOver carried_over(const std::vector<double>& read_w, const std::vector<double>& modelled_w);

}  // namespace assay
