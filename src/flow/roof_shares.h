#pragma once

// What is left of the duration of device work when every operator call runs at its roof
// (roof/peaks.h): the edit "roof".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flow/replays.h"
#include "flow/run.h"
#include "records/facts.h"

namespace assay {

struct RoofShares {
  std::vector<float> left;  // per work, 0 to 1; 1 where its roof is not known, or it is faster
  uint64_t works = 0;       // that have less than all of it left
  bool any_work = false;    // some kernel's work is known
  bool any_roof = false;    // and the device's figures
};
// What a roof rests on beside the trace.
struct RoofSources {
  const FactBook* facts = nullptr;        // absent: what is built in
  std::string device = {};                // the user's name of it; empty: as recorded
  const ReplayReport* replays = nullptr;  // joined to their recordings; absent: none
};
// pattern: glob of operators' names; empty = all. Each kernel of a call keeps the call's share: its
// roof over the summed duration of its kernels.
RoofShares roof_shares(const FlowRun& run, std::string_view pattern, const RoofSources& sources);

}  // namespace assay
