#pragma once

// CPU cores, clocks and power during a trace, as blocks of the breakdown section.

#include <string>
#include <vector>

#include "breakdown/telemetry.h"
#include "report/document/document.h"

namespace assay {

// "cpu", "cpu_cores", "telemetry", "telemetry_files", and the charts of Chopper's Figures 13
// and 14.
void add_breakdown_telemetry(const TelemetryReport& report, Section& section);
// Sentences on core utilization, clocks and power.
std::vector<std::string> telemetry_words(const TelemetryReport& report);

}  // namespace assay
