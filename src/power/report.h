#pragma once

// The profiles of a measurement run combined: its kernels compared with each other and with those
// of another run.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "power/profile.h"
#include "power/roofline.h"
#include "trace/trust.h"

namespace assay {

enum class KernelBound : uint8_t { kUnknown, kCompute, kMemory };
std::string_view kernel_bound_name(KernelBound bound);

// The paper's takeaways for one kernel. NaN if a number it depends on is unknown.
struct KernelTakeaway {
  std::string name;
  KernelBound bound = KernelBound::kUnknown;
  double op_per_byte = std::numeric_limits<double>::quiet_NaN();
  double ridge_op_per_byte = std::numeric_limits<double>::quiet_NaN();
  double achieved_flops = std::numeric_limits<double>::quiet_NaN();  // FLOP / t_exec, per second
  double peak_flops_share = std::numeric_limits<double>::quiet_NaN();
  double achieved_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  double peak_bandwidth_share = std::numeric_limits<double>::quiet_NaN();
  double ssp_w = std::numeric_limits<double>::quiet_NaN();
  double above_idle_w = std::numeric_limits<double>::quiet_NaN();
  double w_per_tflops = std::numeric_limits<double>::quiet_NaN();  // ssp_w per achieved TFLOP/s
  double pj_per_flop = std::numeric_limits<double>::quiet_NaN();
  double pj_per_byte = std::numeric_limits<double>::quiet_NaN();
};
KernelTakeaway take_away(const KernelProfile& profile, const DeviceRoofline* roofline);

// Bound by the FLOP per byte alone, if every device with known peaks has the same.
KernelBound bound_on_any_device(const KernelTakeaway& takeaway, const FactBook& facts);

// Two kernels that load different parts of the device if they run at the same time. Either one is
// compute-bound and the other memory-bound, or the first draws more in the compute dies and the
// second in the I/O dies or the memory.
struct ComplementaryPair {
  std::string compute;
  std::string memory;
  bool by_parts = false;  // known from the measured powers of parts
  double together_w = 0;  // idle once plus both above idle; an upper bound, as they contend
  double limit_w = std::numeric_limits<double>::quiet_NaN();
  double headroom_w = std::numeric_limits<double>::quiet_NaN();  // limit - together
  std::optional<bool> fits = {};                                 // nullopt: the limit is unknown
};
// limit_w: NaN or 0 = unknown.
std::vector<ComplementaryPair> complementary_pairs(const std::vector<KernelProfile>& profiles,
                                                   const std::vector<KernelTakeaway>& takeaways,
                                                   double limit_w);

// The same kernel under two conditions: all runs against fewer, isolated against interleaved.
struct ProfileComparison {
  std::string name;
  std::string base;  // labels of the two conditions
  std::string other;
  double base_w = 0;
  double other_w = 0;
  double relative = 0;      // other / base - 1
  double relative_low = 0;  // 95 %, both intervals in quadrature
  double relative_high = 0;
  bool differs = false;                                               // the interval excludes 0
  double curve_rms_share = std::numeric_limits<double>::quiet_NaN();  // RMS change of the curve
  double sse_error_change = std::numeric_limits<double>::quiet_NaN();
  // Standard deviation of the LOIs around their curve, which binning reduces. NaN without a curve.
  double base_residual_w = std::numeric_limits<double>::quiet_NaN();
  double other_residual_w = std::numeric_limits<double>::quiet_NaN();
};
// nullopt unless both have an SSP above 0.
std::optional<ProfileComparison> compare_profiles(const KernelProfile& base, std::string base_label,
                                                  const KernelProfile& other,
                                                  std::string other_label);

// Power over the time of whole runs, with a strategy of the method and without (Figure 5).
struct StrategyContrast {
  std::string name;    // of the kernel
  std::string figure;  // "Figure 5a"
  std::string with;
  std::string without;
  std::vector<ProfilePoint> with_points;  // toi_ns since the run's first execution began
  std::vector<ProfilePoint> without_points;
  int64_t sse_from_ns = 0;  // 0: unknown
  int64_t ssp_from_ns = 0;
};

struct PowerReport {
  std::string device;
  std::string workload;
  std::string parts;  // source of component powers, or why there are none
  SensorModel sensor;
  std::vector<KernelProfile> kernels;
  std::vector<KernelTakeaway> takeaways;
  std::vector<ComplementaryPair> pairs;
  std::vector<ProfileComparison> comparisons;
  std::vector<StrategyContrast> contrasts;
  std::optional<DeviceRoofline> roofline;  // of the device; nullopt = not known
  double limit_w = std::numeric_limits<double>::quiet_NaN();
  TrustNotes trust;
};
// True if there are comparisons, and all are of one kernel.
bool of_one_kernel(const std::vector<ProfileComparison>& comparisons);

// limit_w: as reported by the device, 0 = use the specifications.
PowerReport report_power(const PowerRecording& recording, std::vector<KernelProfile> kernels,
                         const FactBook& facts, double limit_w = 0);

}  // namespace assay
