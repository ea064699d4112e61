#pragma once

// Recorded events and blocked time of a host thread, for the CPU idle time of SKIP. Built once per
// thread, then queried per window. flow/ reports why the device was idle.

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
