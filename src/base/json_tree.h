#pragma once

// A JSON text as a tree, for what is small enough to be held as one. Parsing and printing are
// compiled here once, a second of work each: who asks where a text is broken parses it himself.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace assay {

// The parsed text; discarded (is_discarded(), of no type) if it is not JSON, is truncated, or is
// nested_too_deep().
nlohmann::json parsed_json(std::string_view text);
// The same with the keys of objects in the text's order.
nlohmann::ordered_json parsed_ordered_json(std::string_view text);

// The tree as text, on one line or indented by this number of spaces per level. Bytes that are not
// UTF-8 become U+FFFD.
inline constexpr int kOneLine = -1;
std::string json_text(const nlohmann::json& tree, int indent = kOneLine);
std::string json_text(const nlohmann::ordered_json& tree, int indent = kOneLine);

}  // namespace assay
