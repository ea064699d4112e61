#pragma once

// Suffix array and longest common prefixes over integer symbols, in linear time. Chain mining needs
// linear time because traces are repetitive: comparing or hashing windows length by length is
// quadratic for one kernel launched a million times, and equal hashes need a check.

#include <cstdint>
#include <vector>

namespace assay {

// Start positions of all suffixes of `text` in lexicographic order, by induced sorting (Nong, Zhang
// and Chan, SA-IS, 2009). Symbols are 0 .. alphabet-1; a suffix sorts before those it is a prefix
// of. text.size() < 2^31.
std::vector<int32_t> suffix_array(const std::vector<int32_t>& text, int32_t alphabet);

// lcp[i] = length of the common prefix of the suffixes at order[i-1] and order[i]; lcp[0] = 0
// (Kasai et al. 2001).
std::vector<int32_t> common_prefixes(const std::vector<int32_t>& text,
                                     const std::vector<int32_t>& order);

}  // namespace assay
