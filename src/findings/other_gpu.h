#pragma once

// Statements about a run on other GPUs. The first is the headline.

#include <optional>
#include <vector>

#include "findings/finding.h"
#include "flow/other_gpu.h"
#include "flow/run_cost.h"

namespace assay::findings {

// The most useful first. Precondition: the answer is not refused.
std::vector<Finding> other_gpu_findings(const OtherGpus& found);

// The GPU with the largest gain, the subject of the first sentence; nullptr if there are no times.
const RunOnGpu* best_gpu(const OtherGpus& found);

// True if the host is known and is the limit: less than 5 % faster whatever the kernels take, or no
// GPU with a known gain.
bool host_binds_first(const OtherGpus& found);

// The GPU on which the run costs least; nullopt if there is nothing to compare.
std::optional<Finding> cost_finding(const std::vector<RunCost>& costs);

}  // namespace assay::findings
