#pragma once

// Figures 13, 14 and 15 of Chopper's evaluation: what logs of cores and GPUs, and counter runs, add
// to a configuration.

#include <string>
#include <vector>

#include "breakdown/figures.h"
#include "breakdown/telemetry.h"

namespace assay {

struct OpWaterfall;  // breakdown/waterfall.h

// Cores, clocks and power of the trace's time, counted from its start. Readings of several GPUs are
// put together in steps of the longest sampling period among them: the mean of a GPU's readings in
// a step, then mean, least and greatest over GPUs.
void add_figure_telemetry(const TelemetryReport& report, ConfigFigures& figures);

// Operations whose waterfall could be made. Where none could, the reason of the longest.
void add_figure_waterfalls(const std::vector<OpWaterfall>& ops,
                           const std::vector<std::string>& op_names, ConfigFigures& figures);

}  // namespace assay
