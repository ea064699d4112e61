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

// Below this share of the windows a number is not said to be the kernel's.
constexpr double kLeastOwnShare = 0.9;

struct KnownPower {
  double watts = 0;
  double half_w = 0;  // of its 95 % interval
};
// By name, kernels with windows of their own.
std::map<std::string, KnownPower> known_powers(std::span<const KernelProfile> profiles);
// Fills the unmixed powers of a kMixed profile, or says what is not known for it.
void unmix(KernelProfile& profile, const std::map<std::string, KnownPower>& known);

}  // namespace assay
