#pragma once

// Text from a trace is hostile: kernel names reach a terminal, a spreadsheet and a web page. This
// file makes such text safe and measures it: cleaning, display width, shortening, wrapping.
// Escaping for a particular format is up to its writer.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace assay {

enum class Charset { kUtf8, kAscii };

// Characters that draw nothing but change how others are drawn: zero-width, bidi, tags, fillers.
bool is_invisible(char32_t value);

// Columns that a terminal needs: 0 for combining marks, 2 for wide East Asian characters and emoji,
// 1 for the rest. The ranges are approximate on purpose: an error costs alignment, not safety.
size_t display_width(char32_t value);
size_t display_width(std::string_view cleaned);

// Makes text safe for one line of a terminal. Line breaks and tabs become a space, other control
// characters and invalid bytes become U+FFFD, and invisible characters are removed. With kAscii,
// known symbols are spelled out (us, ->, ...) and everything else becomes '?'.
std::string clean_text(std::string_view text, Charset charset = Charset::kUtf8);

// The same for XML and HTML: cleaned, with & < > " ' as entities.
std::string escape_markup(std::string_view text);

// Shortens cleaned text to at most `width` columns by replacing its middle with an ellipsis,
// because kernel names differ at both ends.
std::string shorten_middle(std::string_view cleaned, size_t width,
                           Charset charset = Charset::kUtf8);

// A name in the form used by the page's timeline, so that actions can refer to their kernels.
std::string lane_text(std::string_view text);

// Lines of at most width columns, broken at spaces; a longer word is shortened in the middle. Empty
// text gives one empty line.
std::vector<std::string> wrap_text(std::string_view cleaned, size_t width,
                                   Charset charset = Charset::kUtf8);

// "a", "a and b", "a, b and c".
std::string joined_words(const std::vector<std::string>& words);

// Pads with spaces to `width` columns, on the left if `right` is true. Longer text is returned
// unchanged.
std::string pad_text(std::string_view cleaned, size_t width, bool right);

}  // namespace assay
