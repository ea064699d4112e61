#pragma once

// Shared by the sentences and tables of a job.

#include <string>
#include <vector>

#include "job/findings.h"
#include "report/document/short_answer.h"

namespace assay {

// "rank 77", "node n20", "pod p3's links"; cleaned text.
std::string fleet_finding_name(const FleetJob& job, const FleetFinding& one);

// Time of all ranks by cause: compute first, then largest first. Empty if the ranks have no GPU
// activity.
std::vector<AnswerCause> fleet_parts(const FleetJob& job);

}  // namespace assay
