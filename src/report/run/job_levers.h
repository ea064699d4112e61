#pragma once

// Recommended actions for a job's first screen.

#include <vector>

#include "report/document/short_answer.h"
#include "report/flow/answer.h"
#include "report/flow/job.h"

namespace assay {

// At most three actions: the one on the job's bottleneck first, then by gain. Candidates are
// blame_levers() and actions on single ranks. The latter count only on ranks that hardly wait,
// because these set the pace, and only if half of those have the action. The gain is the largest of
// one rank, as `assay whatif` reports it for that rank's trace.
std::vector<AnswerLever> job_levers(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks);

}  // namespace assay
