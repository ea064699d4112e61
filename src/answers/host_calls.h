#pragma once

#include <vector>

#include "base/intervals.h"
#include "diff/run.h"
#include "trace/links.h"

namespace assay {

// Self time of the host's operators and launch calls, by name. For those that start in a span
// (ascending, disjoint): the typical one, without operators and API calls inside it. Other API
// calls are left out: how long they take is the device's doing as often as the host's.
std::vector<DiffHostCalls> host_calls(const Trace& trace, const Links& links,
                                      const std::vector<Interval>& spans);

}  // namespace assay
