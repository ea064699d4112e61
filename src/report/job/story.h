#pragma once

// The solver's conclusion about a job in one sentence, the same for every verb.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "job/solve.h"

namespace assay {

// How a verb names ranks, given as positions in the solved job: "Rank 3", "Ranks 0, 1 and 2 more".
using RankSubject = std::function<std::string(const std::vector<uint32_t>&)>;

// The findings, and the run's duration without them; empty if there are none.
std::string story_sentence(const JobSolution& solution, const RankSubject& subject);

}  // namespace assay
