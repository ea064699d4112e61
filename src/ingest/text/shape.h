#pragma once

// Properties of a text from its first bytes, before it is parsed.

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace assay {

// The first byte that is neither white space nor of a UTF-8 byte order mark; npos without one.
size_t first_text_byte(std::string_view text);

// True if the first of these bytes opens an object or an array; false for a text without any.
bool begins_json(std::string_view text);

// UTF-16 by its byte order mark or by zeros in every other one of its first bytes.
bool is_utf16(std::string_view text);

// Keys of the first object in a JSON text, not those of objects in it; all that come before its end
// or the text's, which may be cut.
using JsonKeys = std::set<std::string, std::less<>>;
JsonKeys first_json_keys(std::string_view text);

}  // namespace assay
