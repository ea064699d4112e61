#pragma once

// A reading whose window held several kernels says nothing of one of them alone. Where all the
// others, and idle, are known, what is left is the kernel's own:
//   P_k = (x - sum of s_j P_j) / s_k   with variance   (var x + sum of s_j^2 var P_j) / s_k^2
// x is the mean of windows that tile the execution where there is one between others, and of all
// windows where idle alone is mixed in.
// (no counterpart in FinGraV, whose interleaved figures are of the mixture).

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
// Kernels whose windows held them alone, by name.
std::map<std::string, KnownPower> known_powers(std::span<const KernelProfile> profiles);
// Fills the unmixed powers of a kMixed profile, or says what is not known for it.
void unmix(KernelProfile& profile, const std::map<std::string, KnownPower>& known);

}  // namespace assay
