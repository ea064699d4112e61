#pragma once

// Equations 1 to 3 of Chopper, waits for collectives, and overlap, per compute kernel of a GPU.

#include <vector>

#include "base/intervals.h"
#include "levels/levels.h"

namespace assay {

// Host time in calls that wait for the device, merged.
std::vector<Interval> blocked_host(const Trace& trace, const Links& links);

// Fills the times of `rows`, all of one GPU, in order of (t_ks, t_ke, activity).
//
// i runs over compute kernels in start order; the end of the one before is the latest end so far,
// over all streams. The bubble before kernel i is [that end, t_ks). From the launch call on, a
// kernel that has not started while a collective ran waited for it; before, the host had not
// launched it, and the collective is to blame only while the host itself waited for the device.
// The rest of the bubble is O_prep up to the launch call and O_call from there on. A kernel without
// a launch call in the trace was launched before the bubble, as far as anyone can tell.
void measure_gpu(std::vector<KernelLevel>& rows, const std::vector<Interval>& blocked);

// One piece of the bubble before a compute kernel.
enum class BubbleKind : uint8_t { kPrep, kCall, kCommWait };
struct BubblePart {
  uint32_t row = 0;  // of the kernel that ends the bubble
  BubbleKind kind = BubbleKind::kPrep;
  Interval span;
};
// Bubbles of rows that measure_gpu has filled, all of one GPU, cut into pieces whose lengths sum,
// kernel by kernel, to prep_ns, call_ns and comm_wait_ns. In order of time.
std::vector<BubblePart> bubble_parts(const std::vector<KernelLevel>& rows,
                                     const std::vector<Interval>& blocked);

// The same by the published tool's definitions (spec/levels 10): the end before is that of the
// previous row, copies other than from the host are rows, waits for collectives are launch
// overhead; the first row of an iteration counts from the iteration's first device activity.
void measure_gpu_as_chopper(std::vector<KernelLevel>& rows, const Trace& trace);

}  // namespace assay
