#pragma once

// The same workload at several power caps or clocks: one trace and one power log for each.

#include <string>
#include <vector>

#include "answers/energy.h"

namespace assay {

struct PowerSetting {
  std::string name = {};     // "300 W"
  std::string trace = {};    // file
  std::string samples = {};  // its power log
};

// The first setting is the baseline.
struct PowerSweepRequest {
  AttributeRequest attribute = {};  // for every setting; inputs and samples are ignored
  std::vector<PowerSetting> settings = {};
};
// Reads one trace at a time. Fails if compare_settings fails, or if a log does not determine the
// power of the iterations.
Result<Answer> answer_power_sweep(const PowerSweepRequest& request);

}  // namespace assay
