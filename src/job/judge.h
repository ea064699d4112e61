#pragma once

// The answer for a job from its records: every verb takes this way.

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

// The dependences of a rank, as much of them as is compared.
RankFold fold_of(const FleetJob& job, const UsedRecord& used);

// Records in memory, as they would be read from a file. Errors: none of them can be used.
Result<JudgedJob> judge_records(const std::vector<RankRecord>& records);

}  // namespace assay
