#pragma once

// Logs that are too coarse to say which kernel drew what: their total over the trace is known, and
// nothing below it.

#include <string>

#include "power/attribute.h"
#include "power/laying.h"

namespace assay {

// Reason, as text, why the log supports nothing but the total; empty if the model may be fitted.
std::string why_total_only(const PowerSeries& series);

// The log's energy inside the span. Every sample represents the time since the previous one, and
// these intervals are independent. Fails if log and trace do not overlap. All results of the model
// are empty, and the whole energy is unattributed.
Result<EnergyReport> total_energy(const PowerSeries& series, CoveredSpan span,
                                  const AttributeOptions& options, std::string why);

}  // namespace assay
