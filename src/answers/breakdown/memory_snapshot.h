#pragma once

// Analysis of a PyTorch memory snapshot (docs/formats/memory_snapshot.md).

#include <string>
#include <vector>

#include "answers/answer.h"
#include "base/result.h"

namespace assay {

// True if there is exactly one input and it is a memory snapshot. Snapshots have no kernels and are
// analyzed without traces.
bool is_memory_snapshot(const std::vector<std::string>& inputs);
Result<Answer> answer_memory_snapshot(const std::string& path);

}  // namespace assay
