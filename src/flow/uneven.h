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
  bool drift = false;        // from_one_on, and more and more so to the end
  size_t first = 0;          // place of the first of them
  size_t count = 0;
  // The longest of a few, the median of the rest, or of the last third of a drift, in medians of
  // the others.
  double times = 1;
  int64_t excess_ns = 0;  // beyond that median, of all of them; below 0 where they got faster
};

// None where nothing of at least a twentieth of the time stands out, or there are too few to tell.
std::optional<UnevenSteps> uneven_steps(const std::vector<int64_t>& step_ns);

}  // namespace assay
