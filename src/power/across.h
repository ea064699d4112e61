#pragma once

// Kernels of several recordings of one device in one report: which complement each other, and
// whether FinGraV's takeaways (Table II) hold for them.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "power/report.h"

namespace assay {

// In the order of Table II; the last is Recommendation-1, from takeaway 2.
enum class TakeawayRule : uint8_t {
  kFirstDiffers,        // 1: the first settled execution draws another power than later ones
  kComputeDrawsMore,    // 2: compute-bound kernels draw more than memory-bound ones
  kXcdLeads,            // 3: compute-bound kernels draw most in the compute dies
  kPowerDoesNotFollow,  // 4: compute-bound kernels with fewer FLOP/s draw about the same power
  kNeighboursCount,     // 5: kernels shorter than the window show what ran before them, others not
  kPairsFit,            // kernels that complement each other stay within the power limit
};

// One rule and the numbers that decide it. Their meaning is the rule's.
struct RuleFinding {
  TakeawayRule rule = TakeawayRule::kFirstDiffers;
  std::optional<bool> holds = {};  // nullopt: not known from the recordings
  std::string kernel = {};
  std::string other = {};
  double value = std::numeric_limits<double>::quiet_NaN();
  double other_value = std::numeric_limits<double>::quiet_NaN();
  bool of_parts = false;  // the powers compared are those of the compute dies
};
std::vector<RuleFinding> takeaway_rules(const PowerReport& across);

// The part with the highest power; nullopt if none was measured.
std::optional<size_t> leading_part(const KernelProfile& kernel);

// All kernels of the reports, which are of one device: `labels` are those of the reports, added to
// names that come more than once. Comparisons are the caller's.
PowerReport report_across(const std::vector<PowerReport>& reports,
                          const std::vector<std::string>& labels);

}  // namespace assay
