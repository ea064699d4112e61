#pragma once

// Figures 13, 14 and 15 of Chopper's evaluation: data from CPU and GPU logs and from counter runs.

#include <string>
#include <vector>

#include "breakdown/figures.h"
#include "breakdown/telemetry.h"

namespace assay {

struct OpWaterfall;  // breakdown/waterfall.h

// Adds cores, clocks and power over time since the start of the trace. Samples of several GPUs are
// combined in steps of the longest sampling period: each step has the mean of each GPU's samples,
// then the mean, minimum and maximum over GPUs.
void add_figure_telemetry(const TelemetryReport& report, ConfigFigures& figures);

// Adds the operations that have a waterfall; if none has, the reason for the longest operation.
void add_figure_waterfalls(const std::vector<OpWaterfall>& ops,
                           const std::vector<std::string>& op_names, ConfigFigures& figures);

}  // namespace assay
