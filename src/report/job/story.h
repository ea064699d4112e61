#pragma once

// The solver's conclusion about a job, for its diagnosis. The same for every verb.

#include <cstdint>
#include <functional>
#include <vector>

#include "findings/job.h"
#include "job/solve.h"

namespace assay {

// How a verb names ranks, given as positions in the solved job.
using NameRanks = std::function<findings::JobRanks(const std::vector<uint32_t>&)>;

void add_solution(const JobSolution& solution, const NameRanks& name, findings::JobFacts& facts);

}  // namespace assay
