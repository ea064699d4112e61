#pragma once

// Longest common subsequence of two token sequences. One algorithm is for nearly equal sequences
// (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, section 4b, linear space). The
// other gives only the length, for any sequences.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay {

// Index pairs of a longest common subsequence, increasing in both. nullopt if more than
// `max_differences` tokens of both together would be unmatched. Time O((n + m) * differences),
// memory O(n + m). Deterministic.
std::optional<std::vector<std::pair<uint32_t, uint32_t>>> common_subsequence(
    std::span<const uint32_t> a, std::span<const uint32_t> b, size_t max_differences);

// Lengths of the common prefix and suffix; they do not overlap in either sequence.
struct CommonEnds {
  size_t begin = 0;
  size_t end = 0;
};
CommonEnds common_ends(std::span<const uint32_t> a, std::span<const uint32_t> b);

// Exact length of the longest common subsequence. Time O(n * m / 64), memory O(n + m): the bits of
// one word hold 64 columns of the table (Hyyro, "Bit-Parallel LCS-length Computation Revisited",
// 2004).
size_t common_length(std::span<const uint32_t> a, std::span<const uint32_t> b);

// The same for the first r tokens of `a` and all of b, for each r from 0 to a.size().
std::vector<size_t> common_lengths(std::span<const uint32_t> a, std::span<const uint32_t> b);

// The same for every suffix of `a` with every suffix of `b`, stored as one bit per pair. 64 times
// faster than a full table.
class SuffixLengths {
 public:
  SuffixLengths(std::span<const uint32_t> a, std::span<const uint32_t> b);
  // For a[i..] and b[j..]; time O(b / 64).
  size_t at(size_t i, size_t j) const;

 private:
  size_t rows_;
  size_t columns_;
  size_t words_;
  std::vector<uint64_t> grows_;  // per row of reversed a, over the columns of reversed b
};

}  // namespace assay
