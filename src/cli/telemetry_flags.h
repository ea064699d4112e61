#pragma once

// `--telemetry` and the options that align its logs with the trace.

#include <string>
#include <vector>

#include "answers/breakdown/telemetry.h"
#include "base/result.h"

namespace assay {

class Verb;  // cli/options.h

struct TelemetryFlags {
  std::vector<std::string> files;
  std::string offset;             // seconds, or "start"
  std::string zone = "UTC";       // for logs in local time
  std::vector<std::string> gpus;  // GPU=DEVICE
};
void add_telemetry_options(Verb& verb, TelemetryFlags& flags);

// Fails if a flag is malformed.
Result<TelemetryRequest> telemetry_request(const TelemetryFlags& flags);

}  // namespace assay
