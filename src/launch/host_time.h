#pragma once

// What a host thread was doing when: recorded work, waiting for the device, loading data, or
// nothing that the profiler saw. Built once per thread, then asked per window.

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// A launch call that has not returned after this long waits for room in the launch queue
// (spec/launch 2).
constexpr int64_t kLaunchBackPressureNs = 100'000;

// Merged intervals over the whole trace.
struct HostTimeline {
  std::vector<Interval> recorded;  // root operators and API calls
  std::vector<Interval>
      blocked;                  // blocking calls, and launch calls beyond 100 us; part of recorded
  std::vector<Interval> waits;  // blocked, and calls that copy to the host: both drain the device
  std::vector<Interval> input;  // data-loader operators and annotations
};

// roots: root_ops of the trace.
HostTimeline host_timeline(const Trace& trace, const Links& links, const std::vector<OpId>& roots,
                           ThreadId thread);

// What the threads that launch kernels did together: in a training step the forward pass is
// launched by one thread and the backward pass by another, while the first only waits. Disjoint but
// for `waiting`.
struct LaunchingHost {
  std::vector<Interval> busy;     // some thread works
  std::vector<Interval> blocked;  // none works, some thread is blocked
  std::vector<Interval> input;    // neither, some thread loads data
  std::vector<Interval> waiting;  // some thread waits for the device and none does anything else
};
LaunchingHost launching_host(const std::vector<HostTimeline>& threads);

// The part of merged intervals inside the window, found by bisection: a thousand windows over one
// long timeline must not each walk all of it.
std::vector<Interval> slice(const std::vector<Interval>& merged, Interval window);

}  // namespace assay
