#pragma once

// Analyzes a job from its rank records. All commands use this entry point.

#include <string>
#include <vector>

#include "base/result.h"
#include "job/findings.h"
#include "job/job.h"
#include "job/sets.h"

namespace assay {

struct JudgedJob {
  FleetJob job;
  FleetSets sets;
  FleetFindings found;
};

// The dependency fold of a rank, cut to the part that is compared (cut_to_fit).
RankFold fold_of(const FleetJob& job, const UsedRecord& used);

// Analyzes records in memory exactly like records read from files. Fails if none can be used.
Result<JudgedJob> judge_records(const std::vector<RankRecord>& records);

}  // namespace assay
