#pragma once

// Writes a text as a JSON string, for writers that assemble JSON themselves, and checks a JSON text
// before it is parsed into a tree.

#include <string>
#include <string_view>

namespace assay {

// Appends the quoted text. Escapes control characters, DEL and the line separators U+2028 and
// U+2029, so that the string is one line for every reader. Invalid UTF-8 becomes U+FFFD. All other
// text is preserved.
void append_json_string(std::string_view text, std::string& out);
std::string json_string(std::string_view text);

// True if arrays and objects are nested deeper than any real program writes. Walking, copying or
// printing such a tree would overflow the stack, so call this before every parse into a tree.
bool nested_too_deep(std::string_view json);

}  // namespace assay
