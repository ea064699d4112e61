#pragma once

// Converts JSON strings to valid UTF-8 text.

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

struct TextRepairs {
  uint64_t invalid_escapes = 0;
  uint64_t invalid_bytes = 0;
};

// Resolves escapes of `raw` (a JSON string without its quotes). With check_utf8, replaces each byte
// that is not UTF-8 by U+FFFD. Returns `raw` itself if nothing changed, else `scratch`. An unknown
// escape keeps its backslash, because Windows paths contain such backslashes.
std::string_view clean_json_text(std::string_view raw, bool check_utf8, std::string& scratch,
                                 TextRepairs& repairs);

// `text` with each byte that is not UTF-8 replaced by U+FFFD. Returns `text` itself if all bytes
// are valid, else `scratch`.
std::string_view valid_utf8(std::string_view text, std::string& scratch, uint64_t& invalid_bytes);

// Removes the white space outside strings from `raw`, a JSON value as written; returns `scratch`.
// If is_string, `raw` is the content of a string: an array or object in it is unquoted, because
// some writers quote them; other strings keep their quotes.
std::string_view compact_json(std::string_view raw, bool is_string, std::string& scratch);

// Replaces the bare NaN, Infinity and -Infinity that Python writes outside strings by null.
std::string without_bare_words(std::string_view text);

}  // namespace assay
