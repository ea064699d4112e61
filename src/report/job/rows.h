#pragma once

// Common code for words and tables of a job.

#include <string>
#include <vector>

#include "job/findings.h"
#include "report/document/short_answer.h"

namespace assay {

// "rank 77", "node n20", "pod p3's links"; cleaned.
std::string fleet_finding_name(const FleetJob& job, const FleetFinding& one);

// Time of all ranks by cause: compute first, then the largest. Empty for ranks without work.
std::vector<AnswerCause> fleet_parts(const FleetJob& job);

}  // namespace assay
