#pragma once

// Finds the rank that a hanging job waits for, from the job's flight-recorder dumps.

#include <string>
#include <vector>

#include "answers/answer.h"
#include "base/result.h"

namespace assay {

struct HangRequest {
  // Dumps, archives, and folders of them (up to three levels deep). Logs of NCCL and NCCL Inspector
  // among them serve as evidence.
  std::vector<std::string> inputs = {};
};
// data_lost: a dump could not be read, or a rank has none. Errors: no readable dump.
Result<Answer> answer_hang(const HangRequest& request);

}  // namespace assay
