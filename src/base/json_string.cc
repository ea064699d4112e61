#include "base/json_string.h"

#include <cstddef>

#include "base/utf8.h"

namespace assay {
namespace {

// Stands for itself between quotes.
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

}  // namespace assay
