#pragma once

// Figures 13, 14 and 15 of Chopper's evaluation: what logs of cores and GPUs, and counter runs, add
// to a configuration.

#include <string>
#include <vector>

#include "breakdown/figures.h"
#include "breakdown/telemetry.h"

namespace assay {

struct OpWaterfall;  // breakdown/waterfall.h

// Cores, clocks and power over the trace's time, counted from its start. Samples of several GPUs
// are combined in steps of the longest sampling period among them. A step has the mean of each
// GPU's samples, then the mean, minimum and maximum over GPUs.
void add_figure_telemetry(const TelemetryReport& report, ConfigFigures& figures);

// Operations with a waterfall. If there are none, the reason for the longest operation.
void add_figure_waterfalls(const std::vector<OpWaterfall>& ops,
                           const std::vector<std::string>& op_names, ConfigFigures& figures);

}  // namespace assay
