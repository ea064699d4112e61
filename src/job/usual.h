#pragma once

// What own work and transfers usually take, and by how much each rank and link is above it.

#include <cstdint>
#include <vector>

#include "job/job.h"
#include "job/what_if.h"

namespace assay {

struct FleetUsual {
  FleetExcess excess;
  std::vector<float> scores;  // per rank: middle of work / usual - 1, weighed by the usual; NaN
  // Per rank: all of its own work over all of the usual, less 1; NaN.
  std::vector<float> totals;
  std::vector<uint32_t> peers;  // per rank: ranks at its places, itself included, in the middle
  // Per rank and column, rank by rank: work less usual, of either sign, and what of it is above.
  std::vector<int64_t> signed_ns;
  std::vector<int64_t> above_ns;  // -1 = nothing recorded
  // Per group: middle of transfer / usual - 1 over its complete meetings; NaN.
  std::vector<float> link_scores;
  // The same over those of its meetings that usually take less than half of its longest; NaN.
  std::vector<float> short_link_scores;
  std::vector<uint32_t> link_class;  // per group: groups of one class are like each other
  uint64_t few_peers = 0;
};

// What a rank's own work is above usual in all columns: above_ns as in FleetUsual.
int64_t rank_excess_ns(const std::vector<int64_t>& above_ns, size_t columns, uint32_t rank);

// least_peers: ranks at one place whose median is usual; where there are fewer, a rank's own median
// over the iterations is, and it has no score.
FleetUsual find_usual(const FleetJob& job, uint32_t least_peers);

}  // namespace assay
