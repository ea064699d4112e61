#pragma once

// What a memory snapshot of PyTorch says (docs/formats/memory_snapshot.md).

#include <string>
#include <vector>

#include "answers/answer.h"
#include "base/result.h"

namespace assay {

// Whether the only input is one. It has no kernels, and is answered instead of traces, not beside
// them.
bool is_memory_snapshot(const std::vector<std::string>& inputs);
Result<Answer> answer_memory_snapshot(const std::string& path);

}  // namespace assay
