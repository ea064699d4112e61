#pragma once

// Aligns clocks on collectives, and finds the last rank to arrive at each.

#include <cstdint>
#include <map>
#include <vector>

#include "breakdown/ranks.h"

namespace assay {

// Fills alignment and arrivals of `job`. gpu_of[r]: device -> number of the job, of rank r.
// Matching and clocks: flow/meetings.h.
void align_ranks(const std::vector<RankLevels>& ranks,
                 const std::vector<std::map<int64_t, int64_t>>& gpu_of, JobLevels& job);

}  // namespace assay
