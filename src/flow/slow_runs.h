#pragma once

// Kernels of one name and launch shape with some runs that take many times as long as the others.

#include <cstdint>
#include <optional>

#include "base/intervals.h"
#include "trace/trace.h"

namespace assay {

struct SlowRuns {
  StringId name;
  uint64_t runs = 0;
  uint64_t slow = 0;      // slow ones
  double times = 1;       // longest run / median
  int64_t excess_ns = 0;  // time of the slow ones beyond the median, summed
};

// The kernel with most excess time in the window. Slow runs take at least three medians; they are
// at least four and at most a fifth of its runs, occur in both halves of them, and their excess is
// at least 1/20 of the window. None if no kernel qualifies, if slow runs come at a fixed distance
// (other work under the same name), or if under nine in ten of the other runs take less than 1.5
// medians (the time depends on the data).
std::optional<SlowRuns> slow_runs(const Trace& trace, Interval window);

}  // namespace assay
