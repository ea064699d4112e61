#pragma once

// Recommended changes to a job, for its first screen.

#include <vector>

#include "report/document/short_answer.h"
#include "report/flow/answer.h"
#include "report/flow/job.h"

namespace assay {

// At most three: the one on the job's bottleneck first, then by gain. They are those of
// blame_levers(), and actions for single ranks. An action counts only for ranks that hardly wait,
// because these set the pace, and only if half of them have it. Its gain is the largest of one
// rank, as in `assay whatif` for that rank's trace.
std::vector<AnswerLever> job_levers(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks);

}  // namespace assay
