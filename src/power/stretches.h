#pragma once

// Mean power of a device in intervals: the powers of the joint fit over the activities in them, and
// the part that only the interval's own samples show.

#include <vector>

#include "base/intervals.h"
#include "power/attribute.h"
#include "power/coverage.h"
#include "power/laying.h"

namespace assay {

// Per interval, in the order given; work in any order. An interval that the log does not cover has
// covered_ns 0 and no numbers. The tail of the work's power counts as part of it.
std::vector<StretchPower> stretch_powers(const std::vector<std::vector<Interval>>& stretches,
                                         std::vector<Work> work, const Coverage& covered,
                                         const Laid& laid, CoveredSpan span);

}  // namespace assay
