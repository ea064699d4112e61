#pragma once

// Operators that compute on the CPU, e.g. on tensors that are not on the device: the device waits
// for their results, not for a slow launch.

#include <cstdint>
#include <vector>

#include "flow/causes.h"
#include "trace/trace.h"

namespace assay {

struct HostCompute {
  int64_t ns = 0;               // idle time of devices that wait for them
  std::vector<StringId> names;  // most idle time first
};

// Selects, from the contributors, operators of a tensor library ("aten::lerp_") that make no
// runtime call and take 20 us or more on average. An operator that launches work makes a call; one
// that does neither takes a few us. Empty without recorded API calls.
HostCompute host_compute(const Trace& trace, const std::vector<Contributor>& contributors);

}  // namespace assay
