#pragma once

// Transfers of a job's collectives compared with each other: of process groups that do the same,
// which is slow; and of one group, whether a few take many times what the others take.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/intervals.h"
#include "base/stats.h"
#include "flow/job.h"

namespace assay {

// A few transfers of a class that take many times the median.
struct SlowMeetings {
  uint64_t count = 0;
  int64_t longest_ns = 0;
  int64_t excess_ns = 0;  // beyond the median, of all of them
  Interval span;          // from the first of them to the last, by the job's common clock
  int64_t gain_ns = 0;    // with these at the median; -1 = not tried: others have more excess
};

// Transfers of a class that take now a short, now a long time.
struct VaryingTransfers {
  int64_t fast_ns = 0;  // at the end of the fastest tenth
  int64_t slow_ns = 0;  // at the begin of the slowest
  int64_t gain_ns = 0;  // with none longer than the end of the fastest quarter
};

// Collectives of one process group, kind and size class, compared with other groups of that class.
struct LinkClass {
  uint32_t group = 0;           // into Job::groups()
  std::vector<uint32_t> ranks;  // places in Job::ranks(), ascending: that met in them
  int64_t members = 0;
  int64_t bytes = -1;  // median; -1 = not told
  uint64_t meetings = 0;
  int64_t transfer_ns = 0;   // median: from the last to come to the last end
  DurationSpread transfers;  // of all meetings
  // NaN where the bytes are not told, and of an all-to-all whose ranks give or take different
  // amounts: how much of it stays on its rank was not recorded.
  double bus_bytes_per_s = 0;
  // Median of the other groups of this class, at this one's size where it is larger; -1 = there is
  // none.
  int64_t peers_ns = -1;
  bool suspect = false;  // far above them
  int64_t gain_ns = 0;   // of suspects: with transfers at that median
  std::optional<SlowMeetings> slow;
  std::optional<VaryingTransfers> varying;
};

struct LinkOptions {
  double slow_link = 1.5;      // times the median of its class
  double slow_meeting = 5;     // times the median of its own group
  double few = 0.2;            // of the meetings: more of them are no exception
  int64_t least_ns = 100'000;  // that a slow meeting takes more than the median
  size_t tried = 4;            // classes with slow meetings that are replayed
};

// makespan_ns: the job's as it is, without edits.
std::vector<LinkClass> compare_links(const Job& job, int64_t makespan_ns,
                                     const LinkOptions& options = {});

}  // namespace assay
