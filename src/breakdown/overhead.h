#pragma once

// Chopper's equations 1 to 3, waits for collectives, and overlap, for the compute kernels of a GPU.

#include <vector>

#include "base/intervals.h"
#include "breakdown/breakdown.h"
#include "flow/causes.h"

namespace assay {

// Host time in calls that wait for the device, as merged intervals.
std::vector<Interval> blocked_host(const Trace& trace, const Links& links);

// True if idle time with this cause counts as launch overhead: a launch is in preparation or in
// progress. host_told: operators or Python frames were recorded. Time between them then counts as
// preparation of the next launch, as in Chopper. Without them, the host's activity in a gap is
// unknown, and the gap does not count.
bool awaits_launch(FlowCause cause, bool host_told);

// Sets the times of `rows`, which are all of one GPU and sorted by (t_ks, t_ke, activity).
//
// Iterates over compute kernels in start order. The previous end is the latest end so far over all
// streams, and the bubble before a kernel is [previous end, t_ks). After the launch call, a
// collective that runs while the kernel has not started counts as a wait for it. Before the launch
// call, the host has not launched the kernel; a collective then counts only while the host itself
// waits for the device. Copies and collectives in the bubble are not idle time, and neither is idle
// time that flow/ attributes to a cause other than a launch (`idle`: the intervals of this GPU).
// The rest is O_prep before the launch call and O_call after it. A kernel without a recorded launch
// call counts as launched before the bubble. `unrecorded` (trace/unrecorded.h) is excluded from
// bubbles. host_told: as for awaits_launch(). Returns the idle time of all bubbles except launch
// overhead, by cause.
CauseTimes measure_gpu(std::vector<KernelLevel>& rows, const std::vector<Interval>& blocked,
                       const std::vector<Interval>& unrecorded, const std::vector<FlowSlice>& idle,
                       bool host_told);

// Kind of an interval in the bubble before a compute kernel.
enum class BubbleKind : uint8_t {
  kPrep,      // idle, before the launch call
  kCall,      // idle, after the launch call
  kCommWait,  // waiting for a collective
  kWork,      // a copy or another collective runs
};
struct BubblePart {
  uint32_t row = 0;  // kernel after the bubble
  BubbleKind kind = BubbleKind::kPrep;
  Interval span;
};
// Splits the bubbles of rows filled by measure_gpu, all of one GPU, into intervals in time order.
// Per kernel, the lengths of kPrep and kCall sum to prep_ns + call_ns + other_idle_ns, those of
// kCommWait to comm_wait_ns, and those of kWork to comm_alone_ns + copy_ns.
std::vector<BubblePart> bubble_parts(const std::vector<KernelLevel>& rows,
                                     const std::vector<Interval>& blocked,
                                     const std::vector<Interval>& unrecorded);

// The same with the published tool's definitions (spec/levels 10): the previous end is that of the
// previous row; copies other than from the host are rows; waits for collectives count as launch
// overhead; the first row of an iteration counts from the iteration's first GPU activity.
void measure_gpu_as_chopper(std::vector<KernelLevel>& rows, const Trace& trace);

}  // namespace assay
