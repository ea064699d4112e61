#pragma once

// The records of a job's ranks, whole and once more: after the reduce only their times are there.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/job.h"

namespace assay {

// Each rank's record once, in the order of the files: one of these is in memory at a time. Errors:
// files that are not what they were.
Status each_used_record(const FleetJob& job, const std::vector<std::string>& files,
                        const std::function<void(const UsedRecord&)>& see);

}  // namespace assay
