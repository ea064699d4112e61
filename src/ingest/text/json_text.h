#pragma once

// JSON string contents to clean UTF-8 text.

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

// `text` with each byte that is not UTF-8 replaced by U+FFFD; in `scratch` if there is any.
std::string_view valid_utf8(std::string_view text, std::string& scratch, uint64_t& invalid_bytes);

// `raw` (a JSON value as written) without the white space outside its strings, in `scratch`. A
// string that holds an array or an object, as some writers quote them, gives what it holds.
std::string_view compact_json(std::string_view raw, bool is_string, std::string& scratch);

// JSON as Python writes it, with null for a bare NaN, Infinity or -Infinity outside strings.
std::string without_bare_words(std::string_view text);

}  // namespace assay
