#pragma once

// Finds ranks that process the same tokens. All ranks of a tensor-parallel group read the whole
// batch, so adding up their tokens would count it once per rank.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "breakdown/ranks.h"

namespace assay {

// Data-parallel ranks reduce losses a few times in the forward pass; tensor-parallel ranks reduce
// in every layer.
inline constexpr uint64_t kLeastReductions = 4;

// Per rank, the index of the first rank that processes the same tokens; its own index if there is
// none. Two ranks process the same tokens if they share a process group that reduces (all_reduce or
// reduce_scatter) outside the backward pass and the optimizer, in the median iteration at least
// once per layer (kLeastReductions times if layers are unknown). Iterations with different numbers
// of tokens exclude a pair.
std::vector<size_t> token_groups(const std::vector<RankLevels>& ranks);

// Tokens per iteration, summed over GPUs, each token group counted once. spans and gpus are those
// of the job.
std::vector<JobIteration> job_iterations(const std::vector<LevelSpan>& spans,
                                         const std::vector<JobGpu>& gpus);

}  // namespace assay
