#pragma once

// What would change a job, for its first screen.

#include <vector>

#include "report/document/short_answer.h"
#include "report/flow/answer.h"
#include "report/flow/job.h"

namespace assay {

// At most three, the one on what bounds the job first, else by gain. Those of blame_levers(), and
// what half of the ranks or more can do each by itself, where none of them waits much for another:
// such a gain is the largest of a rank's own, as `assay whatif` tells it of that rank's trace.
std::vector<AnswerLever> job_levers(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks);

}  // namespace assay
