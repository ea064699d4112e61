#pragma once

// Kernels by name, the most frequent first.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "launch/metrics.h"
#include "trace/trace.h"

namespace assay {

// All kernel names of the trace, by count descending, then summed t_l descending, then name (spec
// 2). whole: the metrics of the whole trace, for the part of a kernel's time inside its IL.
std::vector<TopKernel> rank_kernels(const Trace& trace, const KernelNames& names,
                                    const std::vector<int64_t>& raw_launch_times,
                                    const LaunchMetrics& whole);

}  // namespace assay
