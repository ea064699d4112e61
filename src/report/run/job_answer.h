#pragma once

// The short answer of several traces: of the ranks of a job, or of traces side by side.

#include <cstddef>
#include <string>
#include <vector>

#include "report/document/short_answer.h"
#include "report/flow/answer.h"
#include "report/flow/job.h"

namespace assay {

// flow, ranks: of the same traces, in the order they were read.
ShortAnswer job_answer(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks);
// Places of ranks, those that tell most first: the late ones, the latest first; the most usual one;
// then the others, the further their shares of the time (compute, collectives, copies, idle) are
// from the medians, the sooner.
std::vector<size_t> telling_order(const std::vector<RankOfAnswer>& ranks,
                                  const std::vector<size_t>& late = {});
// Of traces that are no job.
ShortAnswer side_by_side_answer(const std::vector<RankOfAnswer>& traces);

}  // namespace assay
