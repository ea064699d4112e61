#pragma once

// How the page's timeline is packed: the length of a head, the head in JSON, then columns of
// numbers of seven bits a byte, the lowest first. docs/formats/report_html.md describes it.

#include <string>
#include <string_view>
#include <vector>

#include "base/varint.h"

namespace assay {

// entries: JSON texts.
inline std::string json_list(const std::vector<std::string>& entries) {
  std::string text = "[";
  for (size_t i = 0; i < entries.size(); ++i) text += (i > 0 ? "," : "") + entries[i];
  return text + "]";
}

// Its length in four bytes, the lowest first, then the text.
inline std::string with_length(std::string_view text) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(text.size() >> shift & 255);
  return bytes += text;
}

}  // namespace assay
