#pragma once

// The same work at several power caps or clocks: a trace with a power log of each.

#include <string>
#include <vector>

#include "answers/energy.h"

namespace assay {

struct PowerSetting {
  std::string name = {};     // "300 W"
  std::string trace = {};    // file
  std::string samples = {};  // its power log
};

// The first setting is what others are compared with.
struct PowerSweepRequest {
  AttributeRequest attribute = {};  // for each of them; inputs and samples unused
  std::vector<PowerSetting> settings = {};
};
// Reads one trace at a time. Fails if compare_settings fails, or if a log does not determine the
// power of its iterations.
Result<Answer> answer_power_sweep(const PowerSweepRequest& request);

}  // namespace assay
