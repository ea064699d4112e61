#pragma once

// Logs that are too coarse to say which kernel drew what: their total over the trace is known, and
// nothing below it.

#include <string>

#include "power/attribute.h"
#include "power/laying.h"

namespace assay {

// Why nothing but the total can be told of a log, for readers; empty: the model may be fitted.
std::string why_total_only(const PowerSeries& series);

// The log's energy inside of the span: every reading stands for the time since the one before, a
// piece for itself. Fails where log and trace do not overlap. Everything that a model would tell is
// empty: the whole is unattributed.
Result<EnergyReport> total_energy(const PowerSeries& series, CoveredSpan span,
                                  const AttributeOptions& options, std::string why);

}  // namespace assay
