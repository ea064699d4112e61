#pragma once

// Several ranks as one job: who comes last to collectives, and how much each waits.

#include <string>
#include <vector>

#include "breakdown/ranks.h"
#include "report/document/document.h"

namespace assay {

// Whether the inputs can be compared as ranks of one job: they told different ranks, or their
// collectives match.
bool is_one_job(const JobLevels& job);
// How much each waits and computes, and whose host is behind; who is late, report/flow/job.h tells.
// Empty where is_one_job() is false.
std::vector<std::string> job_words(const JobLevels& job);
// GPUs side by side, who comes last to collectives, and how well the clocks could be aligned: under
// the keys that they have in "breakdown". Made from summaries, too (breakdown/ranks.h).
Section job_section(const JobLevels& job);
// Who comes last to collectives, or why that cannot be told of ranks of one job; empty for one
// rank, and where is_one_job() is false.
std::string straggler_words(const JobLevels& job);

}  // namespace assay
