#pragma once

// The figures of FinGraV as charts of the power section, and energy as charts of its own.

#include "power/attribute.h"
#include "power/report.h"
#include "report/document/document.h"

namespace assay {

// Power over the execution of every kernel, SSE next to SSP, components, and comparisons.
void add_power_charts(const PowerReport& report, Section& section);
// Measured against modelled power, and how well every offset of the log fits.
void add_energy_charts(const EnergyReport& report, Section& section);
// SSE next to SSP and components of all kernels, and comparisons: what there is of them.
void add_across_charts(const PowerReport& report, Section& section);

}  // namespace assay
