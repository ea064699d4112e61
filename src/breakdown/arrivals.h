#pragma once

// Aligns the ranks' clocks on collectives, and finds the last rank to arrive at each.

#include <cstdint>
#include <map>
#include <vector>

#include "breakdown/ranks.h"

namespace assay {

// Sets alignment, arrivals and arrivals_by_kind of `job`. gpu_of[r] maps device indices of rank r
// to GPU numbers of the job. Matching and clock model: flow/meetings.h.
void align_ranks(const std::vector<RankLevels>& ranks,
                 const std::vector<std::map<int64_t, int64_t>>& gpu_of, JobLevels& job);

}  // namespace assay
