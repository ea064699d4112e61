#pragma once

// Operators that compute on the host's own processors, as those on tensors that never were on the
// device do: the device waits for their results, and not for a launch that is slow to come.

#include <cstdint>
#include <vector>

#include "flow/causes.h"
#include "trace/trace.h"

namespace assay {

struct HostCompute {
  int64_t ns = 0;               // idle time of devices behind them
  std::vector<StringId> names;  // the one with most first
};

// Of the contributors, which are some of each cause: operators of a tensor library ("aten::lerp_")
// in which no runtime call was recorded and which take 20 µs or more on average. An operator that
// hands work to a device makes a call; one that does neither takes a few µs.
HostCompute host_compute(const Trace& trace, const std::vector<Contributor>& contributors);

}  // namespace assay
