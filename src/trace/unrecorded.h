#pragma once

// Stretches that the recorder left out, in the middle of one file.

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace assay {

// From here on a host pauses: it does one thing, or nothing that is recorded, for so long, or the
// recorder does. What a busy host does between two launches takes tens of microseconds.
constexpr int64_t kPauseNs = 300'000;

// Ascending and disjoint; of these nothing is known, so that they are no part of any wall time.
std::vector<Interval> unrecorded_spans(const Trace& trace);

}  // namespace assay
