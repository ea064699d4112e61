#pragma once

// The longest common subsequence of two sequences of tokens. One algorithm is for nearly equal
// sequences (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, section 4b, linear
// space). Another gives only the length, for any two sequences.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay {

// Positions of a common subsequence, rising in both. Nothing when more than `max_differences`
// tokens would have to be left out of the two together. Time O((n + m) * differences), memory
// O(n + m). The same input gives the same pairs.
std::optional<std::vector<std::pair<uint32_t, uint32_t>>> common_subsequence(
    std::span<const uint32_t> a, std::span<const uint32_t> b, size_t max_differences);

// Tokens that both begin and end with; the two do not overlap in either sequence.
struct CommonEnds {
  size_t begin = 0;
  size_t end = 0;
};
CommonEnds common_ends(std::span<const uint32_t> a, std::span<const uint32_t> b);

// Length of the longest common subsequence, exact. Time O(n * m / 64), memory O(n + m): 64 columns
// of the table at a time, as bits of one word (Hyyro, "Bit-Parallel LCS-length Computation
// Revisited", 2004).
size_t common_length(std::span<const uint32_t> a, std::span<const uint32_t> b);

// The same of the first r tokens of `a` and all of b, for each r from 0 to a.size().
std::vector<size_t> common_lengths(std::span<const uint32_t> a, std::span<const uint32_t> b);

// The same of every end of `a` and every end of `b`, in a bit for each pair: 1/64 of the time that
// a table takes.
class SuffixLengths {
 public:
  SuffixLengths(std::span<const uint32_t> a, std::span<const uint32_t> b);
  // Of a[i..] and b[j..]; time O(b / 64).
  size_t at(size_t i, size_t j) const;

 private:
  size_t rows_;
  size_t columns_;
  size_t words_;
  std::vector<uint64_t> grows_;  // per row of a backwards, of b's columns backwards
};

}  // namespace assay
