#pragma once

// Power logs of other programs (docs/formats/power_log.md); the format is detected by content.

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
  size_t gpus = 0;               // number of GPUs in a log without a GPU column; 0 = detect it
};
// Errors name the file, and the line if one is responsible.
Result<PowerLog> read_power_log(const std::string& path, const PowerLogChoice& choice = {});

}  // namespace assay
