#pragma once

// Caveats of a number: unlinked, carried-over, clamped, dropped or overlapping rows, the affected
// time, and the printed number that may change.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct TrustNote {
  std::string what;  // stable key, e.g. "unlinked_kernels"
  uint64_t count = 0;
  int64_t time_ns = 0;  // affected time; 0 = none
  std::string affects;  // names of the printed numbers, comma separated
  std::string effect;   // one sentence: direction and size of the effect
};
using TrustNotes = std::vector<TrustNote>;

// Collects notes; ignores those with a count of 0.
class NoteList {
 public:
  void add(std::string what, uint64_t count, int64_t time_ns, std::string affects,
           std::string effect) {
    if (count == 0) return;
    notes_.push_back({std::move(what), count, time_ns, std::move(affects), std::move(effect)});
  }
  TrustNotes take() { return std::move(notes_); }

 private:
  TrustNotes notes_;
};

}  // namespace assay
