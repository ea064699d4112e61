#pragma once

// Iterations that are not like the others: a few that take far longer, all from one on, or all of
// a stretch.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

struct UnevenSteps {
  bool from_one_on = false;  // else a few, or
  bool stretch = false;      // all of a stretch, and no others
  size_t first = 0;          // place of the first of them
  size_t count = 0;
  double times = 1;  // the longest of a few, or the median of the rest, in medians of the others
  int64_t excess_ns = 0;  // beyond that median, of all of them; below 0 where they got faster
};

// None where nothing of at least a twentieth of the time stands out, or there are too few to tell.
std::optional<UnevenSteps> uneven_steps(const std::vector<int64_t>& step_ns);

}  // namespace assay
