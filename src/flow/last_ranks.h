#pragma once

// The ranks that arrive last at collectives, without the reason: longer work, additional work, or
// longer collectives of their own.

#include <cstdint>
#include <vector>

#include "flow/job.h"

namespace assay {

struct LastRanks {
  std::vector<uint32_t> ranks;  // indices into Job::ranks(), ascending; empty = no few ranks do
  uint64_t times = 0;           // meetings at which all others arrived before the last of these
  // Wall time in which all others had arrived at a meeting and these had not. It bounds what the
  // job would save if these arrived with the others: at other times nobody waits for them.
  int64_t behind_ns = 0;
};

// The few ranks that explain 80 % of the lateness at collectives: up to a quarter of the job, or up
// to half of it if they are late nearly every time.
LastRanks usually_last(const Job& job);

}  // namespace assay
