#pragma once

// What a host thread was doing when: recorded work, waiting for the device, loading data, or
// nothing that the profiler saw. Built once per thread, then asked per window.

#include <cstdint>
#include <vector>

#include "base/interval_index.h"
#include "base/intervals.h"
#include "trace/launch_wait.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Between operators an eager program spends microseconds; a millisecond without a single operator
// or call is something else than dispatching.
constexpr int64_t kLongGapNs = 1'000'000;

// One thread over the whole trace.
struct HostTimeline {
  IntervalIndex recorded;  // root operators and API calls
  IntervalIndex blocked;   // blocking calls, and launch calls beyond 100 us; part of recorded
  IntervalIndex waits;     // blocked, and calls that copy to the host: both drain the device
  IntervalIndex input;     // data-loader operators and annotations
};

// roots: root_ops of the trace.
HostTimeline host_timeline(const Trace& trace, const Links& links, const std::vector<OpId>& roots,
                           ThreadId thread);

// What the threads that launch kernels did together: in a training step the forward pass is
// launched by one thread and the backward pass by another, while the first only waits. busy,
// blocked, input and long_gaps are disjoint; what they leave are short gaps.
struct LaunchingHost {
  IntervalIndex busy;       // some thread works
  IntervalIndex blocked;    // none works, some thread is blocked
  IntervalIndex input;      // neither, some thread loads data
  IntervalIndex long_gaps;  // none of these for kLongGapNs or more, within `span`
  IntervalIndex waiting;    // some thread waits for the device and none does anything else
};
LaunchingHost launching_host(const std::vector<const HostTimeline*>& threads, Interval span);

}  // namespace assay
