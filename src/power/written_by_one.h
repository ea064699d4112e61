#pragma once

// Whether a power log that no column divides among GPUs is of one.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "power/attribute.h"
#include "records/power_log.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// How many GPUs the rows look written by in turn: every second, third, ... of them goes together;
// 1 = they do not. Asked once, for both checks below.
size_t writers_in_turn(const PowerSeries& series);

// As below, before any fit and in a hundredth of its time: an error only where none of the device's
// kernels comes back in step with the rows, so that no fit could explain it.
Status check_turns_before_fit(size_t writers, const PowerSeries& series, const Trace& trace,
                              const Links& links, const AttributeOptions& options,
                              const std::string& path, const std::string& else_do);

// Rows that no column files under a GPU are one GPU's, unless they go together by `writers` and
// what ran, by the fit of `report`, does not explain it: work that repeats itself as often does.
// Else an error of the file, which ends with `else_do`: what flag helps.
Status check_written_by_one(size_t writers, const EnergyReport& report, const std::string& path,
                            const std::string& else_do);

}  // namespace assay
