#pragma once

// Rows by time. Recorded rows are a few sorted runs one after another (threads, streams), and
// merging runs beats sorting them anew.

#include <cstdint>
#include <vector>

namespace assay {

struct Timed {
  int64_t time_ns;
  uint32_t row;
};

// Sorts by time; rows of equal time keep their order.
void sort_runs(std::vector<Timed>& rows);

}  // namespace assay
