#pragma once

// Logs of cores and GPUs (docs/formats/telemetry.md); the format is detected by content.

#include <string>

#include "base/result.h"
#include "records/telemetry.h"

namespace assay {

// Errors name file and line. allow_truncated: a compressed log that ends early is read up to there.
Result<TelemetryLog> read_telemetry(const std::string& path, bool allow_truncated = false);

}  // namespace assay
