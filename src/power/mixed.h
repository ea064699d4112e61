#pragma once

// A sample with several kernels in its window determines the power of none. If all others, and
// idle, are known, the rest is the kernel's own power:
//   P_k = (x - sum of s_j P_j) / s_k   with variance   (var x + sum of s_j^2 var P_j) / s_k^2
// x is the mean of windows that tile the execution if other kernels are mixed in, and of all
// windows if only idle is. (FinGraV has no counterpart; its interleaved figures are of the
// mixture.)

#include <map>
#include <span>
#include <string>

#include "power/profile.h"

namespace assay {

// A number is the kernel's own only if it ran in at least this share of the windows.
constexpr double kLeastOwnShare = 0.9;

struct KnownPower {
  double watts = 0;
  double half_w = 0;  // of its 95 % interval
};
// Powers of the kernels that fill their windows alone, by name.
std::map<std::string, KnownPower> known_powers(std::span<const KernelProfile> profiles);
// Fills the unmixed powers and energy of a kMixed profile, or adds a reason why they are unknown.
// Leaves other profiles unchanged.
void unmix(KernelProfile& profile, const std::map<std::string, KnownPower>& known);

}  // namespace assay
