#pragma once

// Tests if a power log without a GPU column is of one GPU.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "power/attribute.h"
#include "records/power_log.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Number of GPUs whose rows appear to alternate: every second, third, ... row goes together. 1 = no
// alternation. Computed once, for both checks below.
size_t writers_in_turn(const PowerSeries& series);

// The check below before any fit, in a hundredth of its time. Fails only if no kernel of the device
// recurs in step with the rows, so that no fit could explain them.
Status check_turns_before_fit(size_t writers, const PowerSeries& series, const Trace& trace,
                              const Links& links, const AttributeOptions& options,
                              const std::string& path, const std::string& else_do);

// Rows without a GPU column are of one GPU, unless they alternate by `writers` and the activities
// do not explain it under the fit of `report`. Activities of the same period do explain it.
// Otherwise an error of the file, which ends with `else_do`: the flag that helps.
Status check_written_by_one(size_t writers, const EnergyReport& report, const std::string& path,
                            const std::string& else_do);

}  // namespace assay
