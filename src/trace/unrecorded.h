#pragma once

// Stretches that the recorder left out, in the middle of one file.

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace assay {

// Minimum length of a host stall. For so long the host does one thing, or nothing that is recorded,
// or the recorder stalls. A busy host takes tens of microseconds between two launches.
constexpr int64_t kPauseNs = 300'000;

// Ascending and disjoint. Unrecorded, and therefore excluded from wall time.
std::vector<Interval> unrecorded_spans(const Trace& trace);

}  // namespace assay
