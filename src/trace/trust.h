#pragma once

// What a reader must know before believing a number: what was unlinked, carried over, clamped,
// dropped, overlapping; how much time is at stake; and which printed number it may move.

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

struct TrustNote {
  std::string what;  // stable key, e.g. "unlinked_kernels"
  uint64_t count = 0;
  int64_t time_ns = 0;  // time at stake; 0 = none
  std::string affects;  // names of the printed numbers, comma separated
  std::string effect;   // one sentence: which way and by how much
};
using TrustNotes = std::vector<TrustNote>;

}  // namespace assay
