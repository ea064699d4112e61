#pragma once

// Aligns two sequences with the fewest insertions and deletions (Myers, "An O(ND) difference
// algorithm and its variations", Algorithmica 1, 1986).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

// A difference: a[a_begin, a_end) is replaced by b[b_begin, b_end). Either may be empty.
struct Hunk {
  size_t a_begin = 0;
  size_t a_end = 0;
  size_t b_begin = 0;
  size_t b_end = 0;
};

// All differences, in order. nullopt above `most_edits` insertions and deletions, because memory
// grows with the square of their number.
std::optional<std::vector<Hunk>> align_sequences(const std::vector<uint32_t>& a,
                                                 const std::vector<uint32_t>& b, size_t most_edits);

}  // namespace assay
