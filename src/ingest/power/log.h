#pragma once

// Power logs that other programs wrote (docs/formats/power_log.md); the format is told by content.

#include <string>

#include "base/result.h"
#include "records/power_log.h"

namespace assay {

// column: read this one; empty = the format's own choice (the instantaneous power where there is
// one). allow_truncated: a compressed log that ends early is read up to there, and marked. Errors
// name file and line.
Result<PowerLog> read_power_log(const std::string& path, const std::string& column,
                                bool allow_truncated = false);

}  // namespace assay
