#pragma once

// Statements about a run on other GPUs. The first is the headline.

#include <cstdint>
#include <optional>
#include <string>
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

// The predicted run on one GPU, and the run that was recorded there.
struct ScoredRun {
  std::string gpu;
  int64_t predicted_ns = 0;  // 0 = only the interval was predicted
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  int64_t measured_ns = 0;
  int64_t measured_low_ns = 0;
  int64_t measured_high_ns = 0;
  double signed_error = 0;     // (predicted - measured) / measured
  bool as_recorded = false;    // both with the profiler's overhead
  std::optional<bool> held;    // nullopt = undecided
  bool program_known = false;  // the operators show that both recordings are of one program
};
std::vector<Finding> scored_run_findings(const ScoredRun& scored);

}  // namespace assay::findings
