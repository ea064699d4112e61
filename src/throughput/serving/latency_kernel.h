#pragma once

// Which runs' latencies are off from physics alike, and how much: components over what runs have in
// common, an engine's build and a measuring campaign among them, so that a run of a campaign nobody
// has seen gets the whole of what campaigns differ by. Spec page planner, 2.2.

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
// Those that have a process of their own; end to end is made of them.
inline constexpr size_t kLatencyProcesses = 2;
inline constexpr std::array<LatencyTarget, kLatencyProcesses> kLearntLatencies = {
    LatencyTarget::kTtft, LatencyTarget::kTpot};
std::string_view latency_target_name(LatencyTarget target);  // "TTFT", "TPOT", "end to end"

// In the order of latency_scale_names(): a standard deviation (of log latency; of the logarithm of
// a factor on prompts for those that end in p) per component and the noise, then two lengths in
// doublings, of what is common to many runs and of the rest. 0: the process has no such component.
inline constexpr size_t kLatencyScales = 14;
struct LatencyParameters {
  std::array<double, kLatencyScales> scale{};
  double wide = 2;
  double narrow = 2;
};
const std::array<std::string_view, kLatencyScales>& latency_scale_names();
// Found by `assay throughput plan --refit` on the campaigns of AIConfigurator's public table that
// fall into folds 0 to 2 of S8 (splits.h); those of the other two folds had no say.
const LatencyParameters& latency_defaults(LatencyTarget target);  // one that is learnt

const KernelSpec& latency_kernel();
// As the kernel takes them.
std::vector<double> kernel_parameters(const LatencyParameters& parameters);

// Parameters by the question that will be asked: the log density (Student's t, 4 degrees) of what
// was measured when all of its block is left out, every block of a blocking counting the same and
// every blocking, too. `blockings`: per point the block's number. Coordinate search of `sweeps`
// rounds from `start`; same input, same result.
Result<LatencyParameters> find_latency_parameters(
    const LatencyParameters& start, const std::vector<KernelPoint>& points,
    const std::vector<double>& y, const std::vector<std::vector<uint32_t>>& blockings, int sweeps);

}  // namespace assay
