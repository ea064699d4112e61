#pragma once

// Encoding of the page's timeline: the length of the header, the header as JSON, then columns of
// variable-length integers (7 bits per byte, lowest first). See docs/formats/report_html.md.

#include <string>
#include <string_view>
#include <vector>

#include "base/varint.h"

namespace assay {

// A JSON list. entries: JSON texts.
inline std::string json_list(const std::vector<std::string>& entries) {
  std::string text = "[";
  for (size_t i = 0; i < entries.size(); ++i) text += (i > 0 ? "," : "") + entries[i];
  return text + "]";
}

// The length of the text in four bytes, lowest first, then the text.
inline std::string with_length(std::string_view text) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(text.size() >> shift & 255);
  return bytes += text;
}

}  // namespace assay
