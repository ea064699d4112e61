#pragma once

// Whether a power log that no column divides among GPUs is of one.

#include <string>

#include "base/result.h"
#include "power/attribute.h"
#include "records/power_log.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// As below, before any fit and in a hundredth of its time: an error only where none of the device's
// kernels comes back in step with the rows, so that no fit could explain it.
Status check_turns_before_fit(const PowerSeries& series, const Trace& trace, const Links& links,
                              const AttributeOptions& options, const std::string& path,
                              const std::string& else_do);

// Rows that no column files under a GPU are one GPU's, unless every second, third, ... of them goes
// together and what ran, by the fit of `report`, does not explain it: work that repeats itself as
// often does. Else an error of the file, which ends with `else_do`: what flag helps.
Status check_written_by_one(const PowerSeries& series, const EnergyReport& report,
                            const std::string& path, const std::string& else_do);

}  // namespace assay
