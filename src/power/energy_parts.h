#pragma once

// Energies of parts from powers: the time per kernel name inside a part, times the power of the
// name's class. The interval is that of the sum in the joint fit.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "power/attribute.h"
#include "power/joint/fit.h"

namespace assay {

// A fit with the kernel names (StringId values) behind each of its powers, and the covered time of
// each name.
struct EnergyModel {
  JointFit fit;
  std::vector<std::vector<uint32_t>> groups;         // of the powers after the base
  std::unordered_map<uint32_t, size_t> group_of;     // by name
  std::unordered_map<uint32_t, int64_t> time_of_ns;  // by name, in all covered time
  double most_w = kMostKernelWatts;                  // upper bound of any kernel's added power;
                                                     // infinite if unknown
};

// Covered time of one part: per kernel name, the number of activities, and the base.
struct EnergyTally {
  std::map<uint32_t, int64_t> ns;  // by name
  uint64_t count = 0;
  int64_t base_ns = 0;  // time that also draws the base power
};

// The split of energy among names that share one power is unknown. A part's interval therefore
// extends from its energy if its names drew least to its energy if they drew all, with at most
// most_w for each. `closely`: use the profile of the sum; else the sum of the powers' own
// intervals, which is wider.
EnergyPart part_of(std::string name, const EnergyTally& tally, const EnergyModel& model,
                   bool closely = true);

}  // namespace assay
