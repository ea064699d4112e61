#pragma once

// What would change a job, for its first screen.

#include <vector>

#include "report/document/short_answer.h"
#include "report/flow/answer.h"
#include "report/flow/job.h"

namespace assay {

// At most three, the one on what bounds the job first, else by gain. Those of blame_levers(), and
// what the ranks that hardly wait for others, since the others wait for them, can do each by
// itself, half of them or more: such a gain is the largest of a rank's own, as `assay whatif` tells
// it of that rank's trace.
std::vector<AnswerLever> job_levers(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks);

}  // namespace assay
