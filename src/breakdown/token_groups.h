#pragma once

// Which ranks work on the same tokens: those of a tensor-parallel group all read the whole batch,
// and adding up their tokens would count it once per rank.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "breakdown/ranks.h"

namespace assay {

// Data-parallel ranks reduce losses a few times in the forward pass; tensor-parallel ones reduce in
// every layer.
inline constexpr uint64_t kLeastReductions = 4;

// Per rank the index of the first rank that reads the same tokens, its own where there is none. Two
// ranks do when they share a process group that reduces (all_reduce or reduce_scatter) outside the
// backward pass and the optimizer, in the median iteration once per layer (where no layer is known:
// kLeastReductions times) or more, and no iteration takes in different numbers of tokens.
std::vector<size_t> token_groups(const std::vector<RankLevels>& ranks);

// Sums over GPUs, each group once; by iteration. The spans and GPUs are those of the job.
std::vector<JobIteration> job_iterations(const std::vector<LevelSpan>& spans,
                                         const std::vector<JobGpu>& gpus);

}  // namespace assay
