#pragma once

// What a device drew on average in stretches of time: the powers of the joint fit over what ran in
// them, and what the stretch's own readings show beyond that.

#include <vector>

#include "base/intervals.h"
#include "power/attribute.h"
#include "power/coverage.h"
#include "power/laying.h"

namespace assay {

// Per stretch, in the order given; work in any order. A stretch of which the log covers nothing has
// covered_ns 0 and no numbers. What the work causes is counted with it: its tail as well.
std::vector<StretchPower> stretch_powers(const std::vector<std::vector<Interval>>& stretches,
                                         std::vector<Work> work, const Coverage& covered,
                                         const Laid& laid, CoveredSpan span);

}  // namespace assay
