#pragma once

// The one place that writes a text as a JSON string, for writers that make their JSON by hand.

#include <string>
#include <string_view>

namespace assay {

// Appends the text with its quotes. Control characters, DEL and the line separators U+2028 and
// U+2029 are escaped, so that the string lies on one line for every reader; bytes that are no UTF-8
// become U+FFFD; everything else reads back as it was.
void append_json_string(std::string_view text, std::string& out);
std::string json_string(std::string_view text);

}  // namespace assay
