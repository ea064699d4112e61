#pragma once

// The one place that writes a text as a JSON string, for writers that make their JSON by hand; and
// what is asked of a JSON text before a parser makes a tree of it.

#include <string>
#include <string_view>

namespace assay {

// Appends the text with its quotes. Control characters, DEL and the line separators U+2028 and
// U+2029 are escaped, so that the string lies on one line for every reader; bytes that are no UTF-8
// become U+FFFD; everything else reads back as it was.
void append_json_string(std::string_view text, std::string& out);
std::string json_string(std::string_view text);

// Whether arrays and objects stand in each other deeper than anything that a program writes: who
// walks, copies or prints such a tree would run out of stack. Asked before every parse into a tree.
bool nested_too_deep(std::string_view json);

}  // namespace assay
