#pragma once

// Power logs too coarse to separate kernels: only their total over the trace is known.

#include <string>

#include "power/attribute.h"
#include "power/laying.h"

namespace assay {

// Why the log supports only the total; empty if the model may be fitted.
std::string why_total_only(const PowerSeries& series);

// The log's energy inside the span. Every sample represents the time since the previous one, and
// these intervals are independent. Fails if log and trace do not overlap. All results of the model
// are empty, and the whole energy is unattributed.
Result<EnergyReport> total_energy(const PowerSeries& series, CoveredSpan span,
                                  const AttributeOptions& options, std::string why);

}  // namespace assay
