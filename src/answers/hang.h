#pragma once

// The rank that a hanging job waits for, from the flight-recorder dumps of a job.

#include <string>
#include <vector>

#include "answers/answer.h"
#include "base/result.h"

namespace assay {

struct HangRequest {
  // Dumps, folders of them (up to three deep) and archives; logs of NCCL and of NCCL Inspector
  // among them are evidence.
  std::vector<std::string> inputs = {};
};
// data_lost: dumps that could not be read, or ranks without one. Errors: no dump that can be read.
Result<Answer> answer_hang(const HangRequest& request);

}  // namespace assay
