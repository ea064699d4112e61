#pragma once

// Kernels by name, the most frequent first.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "launch/metrics.h"
#include "trace/trace.h"

namespace assay {

// All kernel names of the trace, by count descending, then summed t_l descending, then name
// (spec/launch 2). whole: metrics of the whole trace, for TopKernel::dur_in_il_ns.
std::vector<TopKernel> rank_kernels(const Trace& trace, const KernelNames& names,
                                    const std::vector<int64_t>& raw_launch_times,
                                    const LaunchMetrics& whole);

}  // namespace assay
