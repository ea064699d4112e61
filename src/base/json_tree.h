#pragma once

// Small JSON texts as a tree. The parser and printer templates are instantiated only here, because
// each takes a second to compile. Code that needs the position of a syntax error parses the text
// itself.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace assay {

// The parsed text; is_discarded() if it is not JSON, is truncated, or is nested_too_deep().
nlohmann::json parsed_json(std::string_view text);
// The same with object keys in their order in the text.
nlohmann::ordered_json parsed_ordered_json(std::string_view text);

// The tree as text: on one line, or indented by `indent` spaces per level. Invalid UTF-8 becomes
// U+FFFD.
inline constexpr int kOneLine = -1;
std::string json_text(const nlohmann::json& tree, int indent = kOneLine);
std::string json_text(const nlohmann::ordered_json& tree, int indent = kOneLine);

}  // namespace assay
