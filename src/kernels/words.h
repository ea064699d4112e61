#pragma once

// Matches whole words of identifiers. "layer_norm", "LayerNorm" and "layernorm" are equal. An
// identifier is stored as its lower-case letters and digits, with marks at the starts of words. A
// word starts after '_' and other signs, at a capital after a small letter, at the last of several
// capitals ("CUDAKernel"), and at the start and end of digits.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

// The identifiers of one part of a name. Only the first kMaxWordText characters are kept.
inline constexpr size_t kMaxWordText = 16384;

class WordText {
 public:
  void add(std::string_view identifier);

 private:
  friend class WordPattern;
  static size_t pair_bit(char a, char b) {
    return (static_cast<unsigned char>(a) * 37U + static_cast<unsigned char>(b)) % 4096U;
  }
  bool has_pair(size_t bit) const { return (pairs_[bit / 64] >> (bit % 64) & 1U) != 0; }

  std::string letters_;      // a zero byte after each identifier
  std::vector<char> marks_;  // per letter: kWord, kIdentifier
  // Bloom filter of adjacent character pairs, which rejects most patterns quickly.
  std::array<uint64_t, 64> pairs_{};
};

// Consecutive words: "layer_norm". '^' matches the beginning of the identifier and '$' its end. '*'
// in front or at the end, not both, matches the rest of that word.
class WordPattern {
 public:
  // Fails on an empty pattern, on signs that no identifier has, on '*' at both ends, and on "^*".
  static Result<WordPattern> parse(std::string_view text);
  bool matches(const WordText& text) const;

 private:
  bool fits(const WordText& text, size_t begin) const;

  std::string letters_;
  size_t first_pair_ = 0;  // WordText::pair_bit of its first two characters; unused for one
  size_t last_pair_ = 0;   // the same of its last two
  bool at_begin_ = false;
  bool at_end_ = false;
  bool open_begin_ = false;
  bool open_end_ = false;
};

}  // namespace assay
