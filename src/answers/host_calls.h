#pragma once

#include <vector>

#include "base/intervals.h"
#include "diff/run.h"
#include "trace/iterations.h"
#include "trace/links.h"

namespace assay {

// The span of each iteration. An iteration lasts until the next one begins even if its label ends
// earlier, because the time between labels is part of the run. Windows that the user requested are
// returned unchanged.
std::vector<Interval> iteration_spans(const Windows& windows);

// Self time of host operators and launch calls that start in one of the spans, as the median per
// name. Operators and API calls inside are subtracted. `spans` must be ascending and disjoint.
// Other API calls are excluded: their duration depends on the device as often as on the host.
// with_launches: also launch calls, else operators only.
std::vector<DiffHostCalls> host_calls(const Trace& trace, const Links& links,
                                      const std::vector<Interval>& spans,
                                      bool with_launches = true);

}  // namespace assay
