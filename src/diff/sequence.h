#pragma once

// Two sequences laid side by side with the fewest insertions and deletions (Myers, "An O(ND)
// difference algorithm and its variations", Algorithmica 1, 1986).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

// A stretch of a that stands where a stretch of b stands, between elements that agree.
struct Hunk {
  size_t a_begin = 0;
  size_t a_end = 0;
  size_t b_begin = 0;
  size_t b_end = 0;
};

// Every place where the sequences differ, in order. Nothing when they differ by more than
// `most_edits`: memory grows with its square.
std::optional<std::vector<Hunk>> align_sequences(const std::vector<uint32_t>& a,
                                                 const std::vector<uint32_t>& b, size_t most_edits);

}  // namespace assay
