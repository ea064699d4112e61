#pragma once

// What a host thread recorded, and when it was blocked: the CPU idle time of SKIP. Built once per
// thread, then asked per window. Why the device was idle meanwhile is told by flow/.

#include <vector>

#include "base/interval_index.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// One thread over the whole trace.
struct HostTimeline {
  IntervalIndex recorded;  // root operators and API calls
  IntervalIndex blocked;   // blocking calls, and launch calls beyond 100 us; part of recorded
};

// roots: root_ops of the trace.
HostTimeline host_timeline(const Trace& trace, const Links& links, const std::vector<OpId>& roots,
                           ThreadId thread);

}  // namespace assay
