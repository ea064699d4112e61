#pragma once

// Statements on a run on other GPUs. The first one decides.

#include <optional>
#include <vector>

#include "findings/finding.h"
#include "flow/other_gpu.h"
#include "flow/run_cost.h"

namespace assay::findings {

// The most useful first. The answer must not be refused.
std::vector<Finding> other_gpu_findings(const OtherGpus& found);

// The GPU that the first sentence is about: the one with the largest gain; nullptr = no time is
// given.
const RunOnGpu* best_gpu(const OtherGpus& found);

// The host binds: whatever the kernels take, the run becomes less than 5 % faster.
bool host_binds_first(const OtherGpus& found);

// The GPU on which the run's work costs least. None if there is nothing to compare.
std::optional<Finding> cost_finding(const std::vector<RunCost>& costs);

}  // namespace assay::findings
