#pragma once

// Kernels of several recordings of one device in one report: which of them complement each other,
// and whether FinGraV's takeaways (Table II) hold for them.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "power/report.h"

namespace assay {

// In the order of Table II; the last is Recommendation-1, from takeaway 2.
enum class TakeawayRule : uint8_t {
  kFirstDiffers,        // 1: the first settled execution draws different power from later ones
  kComputeDrawsMore,    // 2: compute-bound kernels draw more than memory-bound ones
  kXcdLeads,            // 3: compute-bound kernels draw most in the compute dies
  kPowerDoesNotFollow,  // 4: compute-bound kernels with fewer FLOP/s draw about the same power
  kNeighboursCount,     // 5: kernels shorter than the window show what ran before them, others not
  kPairsFit,            // kernels that complement each other stay within the power limit
};

// One rule and the kernels and numbers that decide it. NaN or empty if unused. `value` and
// `other_value`, by rule: SSE error and w/T; watts of `kernel` and `other`; XCD share of the power;
// ratios of FLOP/s and of power; change of power and w/T; watts of the pair and the limit.
struct RuleFinding {
  TakeawayRule rule = TakeawayRule::kFirstDiffers;
  std::optional<bool> holds = {};  // nullopt: the recordings cannot tell
  std::string kernel = {};
  std::string other = {};
  double value = std::numeric_limits<double>::quiet_NaN();
  double other_value = std::numeric_limits<double>::quiet_NaN();
  bool of_parts = false;  // the power ratio is of the compute dies (XCD)
};
std::vector<RuleFinding> takeaway_rules(const PowerReport& across);

// Index into KernelProfile::components of the one with the highest power; nullopt if none was
// measured.
std::optional<size_t> leading_part(const KernelProfile& kernel);

// All kernels of the reports, which are of one device. A repeated kernel name gets the label of its
// report appended (`labels`: one per report). `comparisons` is left to the caller.
PowerReport report_across(const std::vector<PowerReport>& reports,
                          const std::vector<std::string>& labels);

}  // namespace assay
