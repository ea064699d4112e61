#pragma once

// Text from a trace is hostile: kernel names reach a terminal, a spreadsheet and a web page. Here
// is the one place that makes it harmless and measures it: cleaning, display width, shortening and
// wrapping. What a format must escape beyond that lies with its writer.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace assay {

enum class Charset { kUtf8, kAscii };

// Characters that draw nothing but change what is drawn: zero-width, bidi, tags, fillers.
bool is_invisible(char32_t value);

// Columns that a terminal needs: 0 for combining marks, 2 for wide East Asian characters and emoji,
// 1 for the rest. The ranges are approximate on purpose; an error costs alignment, not safety.
size_t display_width(char32_t value);
size_t display_width(std::string_view cleaned);

// Text that is safe on one line of a terminal: line breaks and tabs become a space, other control
// characters and invalid bytes U+FFFD, invisible characters disappear. With kAscii, known symbols
// are spelled out (us, ->, ...) and everything else becomes '?'.
std::string clean_text(std::string_view text, Charset charset = Charset::kUtf8);

// The same for XML and HTML: clean, and its & < > " ' as entities.
std::string escape_markup(std::string_view text);

// At most width columns of cleaned text, head and tail kept around an ellipsis: kernel names differ
// at both ends.
std::string shorten_middle(std::string_view cleaned, size_t width,
                           Charset charset = Charset::kUtf8);

// A name as the page's timeline holds it, by which levers point at their kernels.
std::string lane_text(std::string_view text);

// Lines of at most width columns, broken at spaces; a longer word is shortened in the middle. Empty
// text gives one empty line.
std::vector<std::string> wrap_text(std::string_view cleaned, size_t width,
                                   Charset charset = Charset::kUtf8);

// "a", "a and b", "a, b and c".
std::string joined_words(const std::vector<std::string>& words);

// Spaces up to width columns, before (right = true) or after the text; longer text stays as it is.
std::string pad_text(std::string_view cleaned, size_t width, bool right);

}  // namespace assay
