#pragma once

// The only code that writes a text as a JSON string, for writers that assemble JSON themselves.
// Also checks of a JSON text before it is parsed into a tree.

#include <string>
#include <string_view>

namespace assay {

// Appends the text with its quotes. Escapes control characters, DEL and the line separators U+2028
// and U+2029, so that the string is one line for every reader. Bytes that are not UTF-8 become
// U+FFFD. All other text reads back unchanged.
void append_json_string(std::string_view text, std::string& out);
std::string json_string(std::string_view text);

// True if arrays and objects are nested deeper than in any output of a real program. Walking,
// copying or printing such a tree would overflow the stack. Call it before every parse into a tree.
bool nested_too_deep(std::string_view json);

}  // namespace assay
