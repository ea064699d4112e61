#pragma once

#include <vector>

#include "base/intervals.h"
#include "diff/run.h"
#include "trace/iterations.h"
#include "trace/links.h"

namespace assay {

// An iteration lasts until the next one begins, also where its label ends before: what lies between
// two labels is no less a part of the run. Requested stretches are used unchanged.
std::vector<Interval> iteration_spans(const Windows& windows);

// Self time of the host's operators and launch calls, by name. For those that start in a span
// (ascending, disjoint): the typical one, without operators and API calls inside it. Other API
// calls are left out: how long they take is the device's doing as often as the host's.
std::vector<DiffHostCalls> host_calls(const Trace& trace, const Links& links,
                                      const std::vector<Interval>& spans);

}  // namespace assay
