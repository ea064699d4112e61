#pragma once

// Similarity of runs in the residuals of latency over the analytical model. Components cover the
// properties that runs have in common. Engine build and benchmark run are among them, so a new
// benchmark run gets the full variation between runs. Spec page planner, 2.2.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "throughput/gp/kernel.h"

namespace assay {

enum class LatencyTarget : uint8_t { kTtft, kTpot, kEndToEnd };
inline constexpr size_t kLatencyTargets = 3;
inline constexpr std::array<LatencyTarget, kLatencyTargets> kAllLatencyTargets = {
    LatencyTarget::kTtft, LatencyTarget::kTpot, LatencyTarget::kEndToEnd};
// The targets with a process of their own; the end-to-end latency is derived from them.
inline constexpr size_t kLatencyProcesses = 2;
inline constexpr std::array<LatencyTarget, kLatencyProcesses> kLearntLatencies = {
    LatencyTarget::kTtft, LatencyTarget::kTpot};
std::string_view latency_target_name(LatencyTarget target);  // "TTFT", "TPOT", "end to end"

// In the order of latency_scale_names(). First a standard deviation per component and for the
// noise: of log latency, or of the logarithm of a factor on prompts for names that end in p. Then
// two lengths in doublings: for components common to many runs, and for the rest. 0 = the component
// is absent.
inline constexpr size_t kLatencyScales = 14;
struct LatencyParameters {
  std::array<double, kLatencyScales> scale{};
  double wide = 2;
  double narrow = 2;
};
const std::array<std::string_view, kLatencyScales>& latency_scale_names();
// Fitted by `assay throughput plan --refit` on the benchmark runs of AIConfigurator's public table
// in folds 0 to 2 of S8 (splits.h). The other two folds were not used.
const LatencyParameters& latency_defaults(LatencyTarget target);  // kTtft or kTpot

const KernelSpec& latency_kernel();
// The parameters in the order of latency_kernel().names.
std::vector<double> kernel_parameters(const LatencyParameters& parameters);

// Fits the parameters for prediction of held-out blocks. The objective is the log density
// (Student's t, 4 degrees of freedom) of each measurement with its whole block held out. The blocks
// of a blocking have equal weight, and so do the blockings. `blockings`: per blocking, the block of
// each point. Coordinate search of `sweeps` rounds from `start`; deterministic.
Result<LatencyParameters> find_latency_parameters(
    const LatencyParameters& start, const std::vector<KernelPoint>& points,
    const std::vector<double>& y, const std::vector<std::vector<uint32_t>>& blockings, int sweeps);

}  // namespace assay
