#pragma once

// Recommendations from a decomposition (TaxBreak, "Diagnostic interpretation"): the dominant layer,
// and the changes that affect it, each with an upper bound in wall time. T_Orch may exceed wall
// time, so no bound is a share of it. Changes to the host are bounded by host time, counted once,
// and by the time in which the GPU ran no kernel; a cheaper host cannot save more.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overhead/overhead.h"

namespace assay {

enum class HostOverheadLayer : uint8_t { kNone, kPython, kDispatch, kLibrary, kLaunch };

struct HostOverheadLever {
  std::string key;         // "compile", "library_path", "fusion", "cuda_graphs", "faster_core",
                           // "device_work", "communication"
  int64_t at_most_ns = 0;  // wall time
  double share_of_e2e = 0;
  std::string basis;  // which numbers bound it
};

struct HostOverheadDiagnosis {
  HostOverheadLayer largest = HostOverheadLayer::kNone;  // of the four parts of T_Orch
  double largest_share = 0;                              // of T_Orch
  // The paper's comparison: software stack (FT + CT) against launch path (N x launch-overhead
  // floor).
  int64_t stack_ns = 0;
  int64_t launch_path_ns = 0;
  int64_t gpu_idle_ns = 0;                // T_e2e less the union of kernel times
  std::vector<HostOverheadLever> levers;  // largest bound first
};

// Wall-clock limits on the gain of any change.
struct DiagnosisLimits {
  int64_t gpu_idle_ns = 0;  // wall time in which no kernel of the window ran
  int64_t gpu_busy_ns = 0;  // wall time minus gpu_idle_ns
};
// Over the whole report: T_e2e and the union of its rows' device intervals.
DiagnosisLimits diagnosis_limits(const Trace& trace, const HostOverheadReport& report);

// Empty for a report without kernels or wall time. sums: the report's own, or measured ones.
HostOverheadDiagnosis diagnose_overhead(const HostOverheadReport& report,
                                        const HostOverheadSums& sums,
                                        const DiagnosisLimits& limits);

// Largest reduction of T_Orch by a faster host core in the paper (section VI: 10 to 29 %).
constexpr double kFasterCoreShare = 0.29;

}  // namespace assay
