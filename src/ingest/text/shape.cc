#include "ingest/text/shape.h"

#include <algorithm>

namespace assay {

size_t first_text_byte(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
}

bool begins_json(std::string_view text) {
  const size_t first = first_text_byte(text);
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

bool is_utf16(std::string_view text) {
  if (text.size() < 2) return false;
  const std::string_view mark = text.substr(0, 2);
  if (mark == "\xFF\xFE" || mark == "\xFE\xFF") return true;
  constexpr size_t kLooked = 16;
  const size_t end = std::min(text.size(), kLooked);
  const size_t zero = text[0] == '\0' ? 0 : 1;
  for (size_t i = 0; i < end; ++i) {
    if ((text[i] == '\0') != (i % 2 == zero)) return false;
  }
  return true;
}

JsonKeys first_json_keys(std::string_view text) {
  JsonKeys keys;
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || (c == '[' && depth > 0)) ++depth;
    if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) break;
    if (c != '"') continue;
    const size_t begin = i + 1;
    for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    const size_t after = text.find_first_not_of(" \t\r\n", i + 1);
    if (depth == 1 && after != std::string_view::npos && text[after] == ':')
      keys.emplace(text.substr(begin, i - begin));
  }
  return keys;
}

}  // namespace assay
