#pragma once

// Equations 1 to 3 of Chopper, waits for collectives, and overlap, per compute kernel of a GPU.

#include <vector>

#include "base/intervals.h"
#include "breakdown/breakdown.h"
#include "flow/causes.h"

namespace assay {

// Host time in calls that wait for the device, merged.
std::vector<Interval> blocked_host(const Trace& trace, const Links& links);

// Whether idle time of this cause ends with a launch: the host prepared one, or it was under way.
// host_told: whether operators or Python frames were recorded. Where they were, what lies between
// them is the host on its way to the next launch, as Chopper counts it; where they were not,
// nothing tells what the host did, and a gap in it is nobody's launch.
bool awaits_launch(FlowCause cause, bool host_told);

// Fills the times of `rows`, all of one GPU, in order of (t_ks, t_ke, activity).
//
// i runs over compute kernels in start order; the end of the one before is the latest end so far,
// over all streams. The bubble before kernel i is [that end, t_ks). From the launch call on, a
// kernel that has not started while a collective ran waited for it; before, the host had not
// launched it, and the collective is to blame only while the host itself waited for the device.
// Copies and collectives that run there are no idle time, nor is idle time that flow/ gives to
// another cause than a launch (`idle`: the slices of this GPU). The rest of the bubble is O_prep up
// to the launch call and O_call from there on. A kernel without a launch call in the trace was
// launched before the bubble, as far as anyone can tell. `unrecorded` (trace/unrecorded.h) is no
// part of a bubble. host_told: as in awaits_launch(). Returns the idle time of all bubbles that is
// no launch overhead, by cause.
CauseTimes measure_gpu(std::vector<KernelLevel>& rows, const std::vector<Interval>& blocked,
                       const std::vector<Interval>& unrecorded, const std::vector<FlowSlice>& idle,
                       bool host_told);

// One piece of the bubble before a compute kernel.
enum class BubbleKind : uint8_t {
  kPrep,      // idle, before the launch call
  kCall,      // idle, from the launch call on
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

// The same by the published tool's definitions (spec/levels 10): the end before is that of the
// previous row, copies other than from the host are rows, waits for collectives are launch
// overhead; the first row of an iteration counts from the iteration's first device activity.
void measure_gpu_as_chopper(std::vector<KernelLevel>& rows, const Trace& trace);

}  // namespace assay
