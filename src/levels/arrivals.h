#pragma once

// Clocks aligned on collectives, and who comes last to them.

#include <cstdint>
#include <map>
#include <vector>

#include "levels/ranks.h"

namespace assay {

// Fills alignment and arrivals of `job`. gpu_of[r]: device -> number of the job, of rank r.
//
// Collectives are matched by process group and kind, in order (by the group's own sequence number
// where the counts differ and it is recorded). All ranks of a collective that nobody leaves before
// everybody came leave it at the same time: a rank's clock offset is the median of its end minus
// the median end. Assumes clocks that do not drift within a trace.
void align_ranks(const std::vector<RankLevels>& ranks,
                 const std::vector<std::map<int64_t, int64_t>>& gpu_of, JobLevels& job);

}  // namespace assay
