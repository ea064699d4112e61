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

// The rest that waiting goes to, at every level.
constexpr std::string_view kWaitingForRanks = "waiting for other ranks";

// Moves what run.collectives spent in `waiting` (per GPU, merged, by the run's clock) to that rest,
// and fills run.waiting_ns. Sums stay as they were.
void take_waiting_apart(DiffRun& run, const std::map<int64_t, std::vector<Interval>>& waiting);

// A rank's time per iteration and GPU without exposed communication: what it does itself.
struct DiffRankTime {
  int64_t rank = 0;
  int64_t a_ns = 0;
  int64_t b_ns = 0;
  int64_t change_ns() const { return b_ns - a_ns; }
};

// Changes of a job by rank.
struct DiffRanks {
  std::vector<DiffRankTime> ranks;  // by rank; empty = unknown
  int64_t waiting_change_ns = 0;    // per iteration and GPU, over all ranks
  // Ranks that stand out, in order: their own time changed in the direction of the total, far more
  // than that of the others, and the waits of the others changed with it. Empty if no rank stands
  // out.
  std::vector<int64_t> apart;
  int64_t apart_ns = 0;  // change of own time of the first to move
};

// Of ranks that both sides have once. change_ns: of the mean time per iteration.
DiffRanks compare_ranks(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b,
                        int64_t change_ns);

}  // namespace assay
