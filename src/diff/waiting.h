#pragma once

// Separates a rank's wait for others in collectives from the transfer, and finds the ranks that
// became slower themselves. A straggler appears on all other ranks as longer collectives; its own
// trace alone would not show it.

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "diff/run.h"

namespace assay {

// Name of the item for waiting, at every level.
constexpr std::string_view kWaitingForRanks = "waiting for other ranks";

// Moves the time that run.collectives spent in `waiting` (per GPU, merged, on the run's clock) to
// that item, and fills run.waiting_ns. Sums do not change.
void take_waiting_apart(DiffRun& run, const std::map<int64_t, std::vector<Interval>>& waiting);

// A rank's local time: per iteration and GPU, without exposed communication.
struct DiffRankTime {
  int64_t rank = 0;
  int64_t a_ns = 0;
  int64_t b_ns = 0;
  int64_t change_ns() const { return b_ns - a_ns; }
};

// Changes of a job by rank.
struct DiffRanks {
  std::vector<DiffRankTime> ranks;  // by rank; empty = unknown
  int64_t waiting_change_ns = 0;    // per iteration and GPU, over these ranks
  // Ranks that stand out, ascending: their local time changed in the direction of the total, far
  // more than that of the others, and the waits of the others changed with it. Empty if no rank
  // stands out.
  std::vector<int64_t> apart;
  int64_t apart_ns = 0;  // change of local time of the rank that changed most
};

// Compares the ranks that both sides have once; empty with fewer than two. change_ns: change of the
// mean time per iteration.
DiffRanks compare_ranks(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b,
                        int64_t change_ns);

}  // namespace assay
