#pragma once

// Checks that a power log without a GPU column is of one GPU.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "power/attribute.h"
#include "records/power_log.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Number of GPUs that appear to alternate in the rows (every n-th row belongs together); 1 = no
// alternation. Input of both checks below.
size_t writers_in_turn(const PowerSeries& series);

// The check below before any fit, in a hundredth of its time. Fails only if no kernel of the device
// recurs with the period of the rows, so that no fit could explain them.
Status check_turns_before_fit(size_t writers, const PowerSeries& series, const Trace& trace,
                              const Links& links, const AttributeOptions& options,
                              const std::string& path, const std::string& else_do);

// Fails if the rows alternate by `writers` and the fit of `report` does not explain it; activities
// of the same period do. The error names `path` and ends with `else_do`, the flag that helps.
Status check_written_by_one(size_t writers, const EnergyReport& report, const std::string& path,
                            const std::string& else_do);

}  // namespace assay
