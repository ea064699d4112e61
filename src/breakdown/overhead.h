#pragma once

// Equations 1 to 3 of Chopper, waits for collectives, and overlap, per compute kernel of a GPU.

#include <vector>

#include "base/intervals.h"
#include "breakdown/breakdown.h"
#include "flow/causes.h"

namespace assay {

// Host time in calls that wait for the device, merged.
std::vector<Interval> blocked_host(const Trace& trace, const Links& links);

// True if idle time of this cause ends with a launch, either in preparation or in progress.
// host_told: operators or Python frames were recorded. With them, time between them is the host on
// its way to the next launch, as in Chopper. Without them, the host's activity in a gap is unknown,
// and the gap counts for no launch.
bool awaits_launch(FlowCause cause, bool host_told);

// Fills the times of `rows`, all of one GPU, in order of (t_ks, t_ke, activity).
//
// i runs over compute kernels in start order. The previous end is the latest end so far, over all
// streams. The bubble before kernel i is [that end, t_ks). After the launch call, a kernel that has
// not started while a collective ran waited for that collective. Before the launch call, the host
// had not launched the kernel. The collective then counts only while the host itself waited for the
// device. Copies and collectives in the bubble are not idle time, and neither is idle time that
// flow/ attributes to another cause than a launch (`idle`: the intervals of this GPU). The rest of
// the bubble is O_prep before the launch call and O_call after it. A kernel without a launch call
// in the trace counts as launched before the bubble. `unrecorded` (trace/unrecorded.h) is excluded
// from bubbles. host_told: as in awaits_launch(). Returns the idle time of all bubbles other than
// launch overhead, by cause.
CauseTimes measure_gpu(std::vector<KernelLevel>& rows, const std::vector<Interval>& blocked,
                       const std::vector<Interval>& unrecorded, const std::vector<FlowSlice>& idle,
                       bool host_told);

// One piece of the bubble before a compute kernel.
enum class BubbleKind : uint8_t {
  kPrep,      // idle, before the launch call
  kCall,      // idle, after the launch call
  kCommWait,  // waits for a collective
  kWork,      // a copy or another collective runs
};
struct BubblePart {
  uint32_t row = 0;  // of the kernel that ends the bubble
  BubbleKind kind = BubbleKind::kPrep;
  Interval span;
};
// Bubbles of rows that measure_gpu has filled, all of one GPU, cut into pieces in order of time.
// Kernel by kernel the lengths of the first two sum to prep_ns + call_ns + other_idle_ns, of the
// third to comm_wait_ns, of the last to comm_alone_ns + copy_ns.
std::vector<BubblePart> bubble_parts(const std::vector<KernelLevel>& rows,
                                     const std::vector<Interval>& blocked,
                                     const std::vector<Interval>& unrecorded);

// The same by the definitions of the published tool (spec/levels 10). The previous end is that of
// the previous row. Copies other than from the host are rows. Waits for collectives are launch
// overhead. The first row of an iteration counts from the iteration's first GPU activity.
void measure_gpu_as_chopper(std::vector<KernelLevel>& rows, const Trace& trace);

}  // namespace assay
