#pragma once

// Rows with a time. Recorded rows consist of a few sorted runs (threads, streams), and merging
// these is faster than sorting.

#include <cstdint>
#include <vector>

namespace assay {

struct Timed {
  int64_t time_ns;
  uint32_t row;
};

// Stable sort by time. O(n log(runs)), O(n) extra memory.
void sort_runs(std::vector<Timed>& rows);

}  // namespace assay
