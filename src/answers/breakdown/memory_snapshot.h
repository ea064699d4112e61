#pragma once

// Analysis of a memory snapshot of PyTorch (docs/formats/memory_snapshot.md).

#include <string>
#include <vector>

#include "answers/answer.h"
#include "base/result.h"

namespace assay {

// True if the only input is one. It has no kernels, so it is analyzed alone, not with traces.
bool is_memory_snapshot(const std::vector<std::string>& inputs);
Result<Answer> answer_memory_snapshot(const std::string& path);

}  // namespace assay
