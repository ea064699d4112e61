#pragma once

// Reads logs of cores and GPUs (docs/formats/telemetry.md); the format is detected by content.

#include <string>

#include "base/result.h"
#include "records/telemetry.h"

namespace assay {

// Errors name the file and the line. allow_truncated: read a truncated compressed log up to its
// end.
Result<TelemetryLog> read_telemetry(const std::string& path, bool allow_truncated = false);

}  // namespace assay
