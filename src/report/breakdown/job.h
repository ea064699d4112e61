#pragma once

// Several ranks as one job: stragglers in collectives, and the wait time of each rank.

#include <string>
#include <vector>

#include "breakdown/ranks.h"
#include "report/document/document.h"

namespace assay {

// True if the inputs are ranks of one job: their ranks differ, or their collectives match.
bool is_one_job(const JobLevels& job);
// Sentences on the wait and compute time of each rank, and on the rank with a slow host.
// report/flow/job.h reports the stragglers. Empty if is_one_job() is false.
std::vector<std::string> job_words(const JobLevels& job);
// Comparison of GPUs, last arrivals at collectives, and quality of the clock alignment, under the
// same keys as in "breakdown". Also accepts rank summaries (breakdown/ranks.h).
Section job_section(const JobLevels& job);
// Sentence on the last arrivals at collectives, or for ranks of one job why they are unknown. Empty
// for one rank and if is_one_job() is false.
std::string straggler_words(const JobLevels& job);

}  // namespace assay
