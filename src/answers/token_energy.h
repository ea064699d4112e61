#pragma once

// Energy per token of a serving engine, from power logs of the same time.

#include "answers/breakdown/telemetry.h"
#include "answers/inputs/traces.h"
#include "power/token_energy.h"

namespace assay {

// The values of `power attribute` for the log, summed over the trace's GPUs; or the reason why
// there are none.
TokenEnergy token_energy(const TelemetryRequest& request, const TraceRequest& traces,
                         const LoadedTrace& loaded);

}  // namespace assay
