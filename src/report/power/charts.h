#pragma once

// FinGraV's figures as charts of the power section, and charts of energy.

#include "power/attribute.h"
#include "power/report.h"
#include "report/document/document.h"

namespace assay {

// Power over the execution of every kernel, SSE next to SSP, components, and comparisons.
void add_power_charts(const PowerReport& report, Section& section);
// Measured and modelled power, and the fit quality for every offset of the log.
void add_energy_charts(const EnergyReport& report, Section& section);
// SSE next to SSP, components of all kernels, and comparisons, where available.
void add_across_charts(const PowerReport& report, Section& section);

}  // namespace assay
