#include "base/json_string.h"

#include <cstddef>

#include "base/utf8.h"

namespace assay {
namespace {

// True if the character needs no escape in a JSON string.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

void append_hex(char32_t value, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(value >> shift) & 0xF];
}

void append_point(char32_t value, std::string& out) {
  if (value == '"' || value == '\\') {
    out += '\\';
    out += static_cast<char>(value);
  } else if (value == '\n') {
    out += "\\n";
  } else if (value == '\t') {
    out += "\\t";
  } else if (is_control(value)) {
    append_hex(value, out);
  } else {
    append_utf8(value, out);
  }
}

}  // namespace

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  size_t plain = 0;
  for (size_t at = 0; at < text.size();) {
    if (is_plain(text[at])) {
      ++at;
      continue;
    }
    out.append(text, plain, at - plain);
    const CodePoint point = decode_utf8(text, at);
    append_point(point.value, out);
    at += point.bytes;
    plain = at;
  }
  out.append(text, plain);
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(text, out);
  return out;
}

bool nested_too_deep(std::string_view json) {
  constexpr int kDeepest = 256;
  int depth = 0;
  bool in_string = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace assay
