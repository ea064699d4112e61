#pragma once

// From powers to energies of parts: time per kernel name inside a part, times the power of the
// name's class, with the interval that the joint fit gives the sum.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "power/attribute.h"
#include "power/joint/fit.h"

namespace assay {

// Names (as numbers) of each power of the fit, and the covered time of each name.
struct EnergyModel {
  JointFit fit;
  std::vector<std::vector<uint32_t>> groups;         // of the powers behind the base
  std::unordered_map<uint32_t, size_t> group_of;     // by name
  std::unordered_map<uint32_t, int64_t> time_of_ns;  // by name, in all covered time
  double most_w = kMostKernelWatts;                  // that any kernel adds; infinite: not known
};

// Time of one part.
struct EnergyTally {
  std::map<uint32_t, int64_t> ns;  // by name
  uint64_t count = 0;
  int64_t base_ns = 0;  // that carries the base power as well
};

// How names that share one power share its energy is not known: a part's interval reaches from
// what it has if its names drew least to what it has if they drew all, but that none draws more
// than most_w. `closely`: the profile of the sum, else the sum of the powers' own intervals, which
// is wider.
EnergyPart part_of(std::string name, const EnergyTally& tally, const EnergyModel& model,
                   bool closely = true);

}  // namespace assay
