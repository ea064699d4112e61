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
  std::string zone = "UTC";       // of logs in local time
  std::vector<std::string> gpus;  // GPU=DEVICE
};
void add_telemetry_options(Verb& verb, TelemetryFlags& flags);

// Fails where a flag is not of its form.
Result<TelemetryRequest> telemetry_request(const TelemetryFlags& flags);

}  // namespace assay
