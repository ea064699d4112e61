#pragma once

// Compares transfer times of a job's collectives: which of several equivalent process groups is
// slow, and whether a few transfers of one group take many times the median.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/intervals.h"
#include "base/stats.h"
#include "flow/job.h"

namespace assay {

// A few transfers that take many times their group's median.
struct SlowMeetings {
  uint64_t count = 0;
  int64_t longest_ns = 0;
  int64_t excess_ns = 0;  // beyond the median, summed
  // From the first one's last arrival to the end of the last, by the common clock.
  Interval span;
  // With these at the median; -1 = not tried: other classes have more excess.
  int64_t gain_ns = 0;
};

// Transfers with times that vary between short and long.
struct VaryingTransfers {
  int64_t fast_ns = 0;  // 10th percentile
  int64_t slow_ns = 0;  // 90th percentile
  int64_t gain_ns = 0;  // with none longer than the 25th percentile
};

// Collectives of one process group, kind and size class, compared with other groups of that kind
// and size.
struct LinkClass {
  uint32_t group = 0;           // index into Job::groups()
  std::vector<uint32_t> ranks;  // participants: indices into Job::ranks(), ascending
  int64_t members = 0;
  int64_t bytes = -1;  // median; -1 = unknown
  uint64_t meetings = 0;
  int64_t transfer_ns = 0;   // median: from the last arrival to the last end
  DurationSpread transfers;  // distribution over all meetings
  // Bus bandwidth as in nccl-tests. NaN if the bytes are unknown, and for an uneven all-to-all: how
  // much of it stays on its rank was not recorded.
  double bus_bytes_per_s = 0;
  // Median of the other groups of this class, scaled to this one's size if that is larger; -1 =
  // none.
  int64_t peers_ns = -1;
  bool suspect = false;  // above LinkOptions::slow_link times peers_ns
  int64_t gain_ns = 0;   // of suspects: with transfers at peers_ns
  std::optional<SlowMeetings> slow;
  std::optional<VaryingTransfers> varying;
};

struct LinkOptions {
  double slow_link = 1.5;      // suspect above this multiple of peers_ns
  double slow_meeting = 5;     // slow above this multiple of its group's median
  double few = 0.2;            // most slow ones, as a share of the meetings
  int64_t least_ns = 100'000;  // least time of a slow meeting beyond the median
  size_t tried = 4;            // most classes with slow meetings that are replayed
};

// makespan_ns: of the job without edits.
std::vector<LinkClass> compare_links(const Job& job, int64_t makespan_ns,
                                     const LinkOptions& options = {});

}  // namespace assay
