#pragma once

// Power logs that other programs wrote (docs/formats/power_log.md); the format is told by content.

#include <string>

#include "base/result.h"
#include "ingest/power/series.h"
#include "records/power_log.h"

namespace assay {

struct PowerLogChoice {
  // Read this one; empty = the format's own choice (the instantaneous power where there is one).
  std::string column = {};
  bool allow_truncated = false;  // a compressed log that ends early is read up to there, and marked
  LogTiming timing = {};         // of logs without times
  size_t gpus = 0;  // that wrote a log whose rows do not say of which they are; 0 = to be found
};
// Errors name file and, where one is at fault, line.
Result<PowerLog> read_power_log(const std::string& path, const PowerLogChoice& choice = {});

}  // namespace assay
