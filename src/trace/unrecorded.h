#pragma once

// Intervals that the recorder left out in the middle of a file.

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace assay {

// Minimum length of a host stall. During such a gap the host executes one long operation or
// something that is not recorded, or the recorder stalls; a busy host takes tens of microseconds
// between two launches.
constexpr int64_t kPauseNs = 300'000;

// The intervals, sorted and disjoint. They are excluded from wall time.
std::vector<Interval> unrecorded_spans(const Trace& trace);

}  // namespace assay
