#pragma once

// Kernels of one name and launch shape of which some runs take many times what the others take.

#include <cstdint>
#include <optional>

#include "base/intervals.h"
#include "trace/trace.h"

namespace assay {

struct SlowRuns {
  StringId name;
  uint64_t runs = 0;
  uint64_t slow = 0;      // of them
  double times = 1;       // the longest, in medians
  int64_t excess_ns = 0;  // of the slow ones beyond the median
};

// The kernel with most such time in the window: a fifth of its runs at most, each three times the
// median or more, from the first half of the runs to the second, and a twentieth of the window's
// time together. None where nothing is so, where the slow ones come at a fixed distance (that is
// other work under one name), or where the others vary, too (nine in ten of them take less than one
// and a half medians, or the kernel's time follows its data).
std::optional<SlowRuns> slow_runs(const Trace& trace, Interval window);

}  // namespace assay
