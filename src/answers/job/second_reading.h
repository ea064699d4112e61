#pragma once

// Second pass over the records of a job's ranks: the reduce step keeps only their times.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/job.h"

namespace assay {

// Calls `see` once per used record, in file order, with one record in memory at a time. Errors:
// files that changed since the first pass.
Status each_used_record(const FleetJob& job, const std::vector<std::string>& files,
                        const std::function<void(const UsedRecord&)>& see);

}  // namespace assay
