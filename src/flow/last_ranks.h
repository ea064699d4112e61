#pragma once

// Who comes last where ranks meet. This says nothing of why: own work, other work than the rest
// has, or meetings of its own that take longer.

#include <cstdint>
#include <vector>

#include "flow/job.h"

namespace assay {

struct LastRanks {
  std::vector<uint32_t> ranks;  // places in Job::ranks(), ascending; empty = no few ranks do
  uint64_t times = 0;           // meetings at which the others had come before all of these
  // Wall time in which the others had come to a meeting and these had not. It bounds what the job
  // would save if these came with the others: outside of it nobody waits for them.
  int64_t behind_ns = 0;
};

// The few ranks behind most of the time by which somebody comes later than the others: up to a
// quarter of the job, or up to half of it where these come last each time they meet.
LastRanks usually_last(const Job& job);

}  // namespace assay
