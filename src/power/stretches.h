#pragma once

// Mean power of a device in sets of intervals: the powers of the joint fit over the activities in
// them, corrected by the samples inside.

#include <vector>

#include "base/intervals.h"
#include "power/attribute.h"
#include "power/coverage.h"
#include "power/laying.h"

namespace assay {

// One result per set of merged intervals, in the given order; `work` may be in any order. A set
// that the log does not cover has covered_ns 0 and NaN powers. The power that decays after an
// activity counts as part of it.
std::vector<StretchPower> stretch_powers(const std::vector<std::vector<Interval>>& stretches,
                                         std::vector<Work> work, const Coverage& covered,
                                         const Laid& laid, CoveredSpan span);

}  // namespace assay
