#pragma once

// Properties of a text from its first bytes, before it is parsed.

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace assay {

// Position of the first byte after white space and a UTF-8 byte order mark; npos if there is none.
size_t first_text_byte(std::string_view text);

// True if that byte opens an object or an array.
bool begins_json(std::string_view text);

// True if the text is UTF-16, by its byte order mark or by zeros in every other one of its first
// bytes.
bool is_utf16(std::string_view text);

// Keys of the first object in a JSON text that may be cut, without those of nested objects.
using JsonKeys = std::set<std::string, std::less<>>;
JsonKeys first_json_keys(std::string_view text);

}  // namespace assay
