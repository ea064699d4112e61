#pragma once

// Statements on a run on other GPUs. The first one decides.

#include <vector>

#include "findings/finding.h"
#include "flow/other_gpu.h"

namespace assay::findings {

// The most useful first. The answer must not be refused.
std::vector<Finding> other_gpu_findings(const OtherGpus& found);

// The GPU that the first sentence is about: the one with the largest gain; nullptr = no time is
// given.
const RunOnGpu* best_gpu(const OtherGpus& found);

// The host binds: whatever the kernels take, the run becomes less than 5 % faster.
bool host_binds_first(const OtherGpus& found);

}  // namespace assay::findings
