#pragma once

// The short answer for several traces: ranks of a job, or unrelated traces side by side.

#include <cstddef>
#include <string>
#include <vector>

#include "report/document/short_answer.h"
#include "report/flow/answer.h"
#include "report/flow/job.h"

namespace assay {

// flow, ranks: of the same traces, in reading order.
ShortAnswer job_answer(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks);
// Indices of ranks by priority. Stragglers come first, the latest of them at the front, followed by
// the most typical rank. The others are sorted by distance of their time shares (compute,
// collectives, copies, idle) from the medians, largest first.
std::vector<size_t> telling_order(const std::vector<RankOfAnswer>& ranks,
                                  const std::vector<size_t>& late = {});
// For traces that are not one job.
ShortAnswer side_by_side_answer(const std::vector<RankOfAnswer>& traces);

}  // namespace assay
