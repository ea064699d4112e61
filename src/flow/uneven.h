#pragma once

// Iterations that differ from the others: a few that take far longer, all from one iteration on, or
// a contiguous range.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

struct UnevenSteps {
  bool from_one_on = false;  // all since `first`; else see `stretch`
  bool stretch = false;      // a contiguous range; else a few
  bool drift = false;        // from_one_on, increasingly towards the end
  size_t first = 0;          // index of the first of them
  size_t count = 0;
  // Relative to the median of the others: the longest of a few; else the median of the changed
  // ones, for a drift of its last third.
  double times = 1;
  int64_t excess_ns = 0;  // beyond that median, summed; negative if they got faster
};

// step_ns: durations in order. None if no deviation is at least 1/20 of the total time, or there
// are too few iterations.
std::optional<UnevenSteps> uneven_steps(const std::vector<int64_t>& step_ns);

}  // namespace assay
