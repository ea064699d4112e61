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

// Per rank, the index of the first rank that reads the same tokens; its own if there is none. Two
// ranks read the same tokens if they share a process group that reduces (all_reduce or
// reduce_scatter) outside the backward pass and the optimizer. In the median iteration it must do
// so at least once per layer (kLeastReductions times if no layer is known). Iterations with
// different numbers of tokens exclude a pair.
std::vector<size_t> token_groups(const std::vector<RankLevels>& ranks);

// Sums over GPUs, each group once; by iteration. The spans and GPUs are those of the job.
std::vector<JobIteration> job_iterations(const std::vector<LevelSpan>& spans,
                                         const std::vector<JobGpu>& gpus);

}  // namespace assay
