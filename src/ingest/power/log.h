#pragma once

// Reads power logs of other programs (docs/formats/power_log.md); the format is detected by
// content.

#include <string>

#include "base/result.h"
#include "ingest/power/series.h"
#include "records/power_log.h"

namespace assay {

struct PowerLogChoice {
  // Column to read; empty = the format's default, which is the instantaneous power if there is one.
  std::string column = {};
  bool allow_truncated = false;  // read a truncated compressed log up to its end, and mark it
  LogTiming timing = {};         // for logs without times
  size_t gpus = 0;               // number of GPUs in a log without a GPU column; 0 = detect it
};
// Errors name the file, and the line if one is responsible.
Result<PowerLog> read_power_log(const std::string& path, const PowerLogChoice& choice = {});

}  // namespace assay
