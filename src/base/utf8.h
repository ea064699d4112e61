#pragma once

// UTF-8 decoding and encoding by code point.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // encoded length; at least 1
};

// The code point at `offset`, which must be inside text. Invalid UTF-8 (overlong, surrogate,
// truncated, out of range) becomes U+FFFD, one per maximal invalid part.
CodePoint decode_utf8(std::string_view text, size_t offset);
void append_utf8(char32_t value, std::string& out);

// C0, DEL, C1, and the line and paragraph separators.
bool is_control(char32_t value);

}  // namespace assay
