#pragma once

// The short answer of several traces: of the ranks of a job, or of traces side by side.

#include <string>
#include <vector>

#include "levels/ranks.h"
#include "report/document/short_answer.h"
#include "report/flow/answer.h"

namespace assay {

// `ranks` in the order they were read; bound: what the job's time is lost to.
ShortAnswer job_answer(const JobLevels& job, BoundBy bound, const std::vector<RankOfAnswer>& ranks);
// Of traces that are no job.
ShortAnswer side_by_side_answer(const std::vector<RankOfAnswer>& traces);

}  // namespace assay
