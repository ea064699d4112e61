#include "ingest/text/json_text.h"

#include <cstring>

#include "ingest/text/json_index.h"
#include "ingest/text/json_walk.h"

namespace assay {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append_utf8(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | code >> 18);
    text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

bool parse_hex4(std::string_view text, uint32_t& value) {
  if (text.size() < 4) return false;
  value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return false;
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  return true;
}

// Appends the character of the escape at raw[i] == '\\'. Returns its length in bytes; 0 if it is
// invalid in JSON.
size_t append_escape(std::string_view raw, size_t i, std::string& text) {
  if (i + 1 >= raw.size()) return 0;
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t known = kNames.find(raw[i + 1]);
  if (known != std::string_view::npos) {
    text += kMeanings[known];
    return 2;
  }
  uint32_t code = 0;
  if (raw[i + 1] != 'u' || !parse_hex4(raw.substr(i + 2), code)) return 0;
  uint32_t low = 0;
  const bool high_half = code >= 0xD800 && code < 0xDC00;
  if (high_half && raw.substr(i + 6, 2) == "\\u" && parse_hex4(raw.substr(i + 8), low) &&
      low >= 0xDC00 && low < 0xE000) {
    append_utf8(text, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
    return 12;
  }
  const bool lone_half = code >= 0xD800 && code < 0xE000;
  append_utf8(text, lone_half ? 0xFFFD : code);
  return 6;
}

void resolve_escapes(std::string_view raw, std::string& text, TextRepairs& repairs) {
  text.clear();
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      text += raw[i++];
      continue;
    }
    const size_t taken = append_escape(raw, i, text);
    if (taken == 0) {
      text += raw[i++];
      ++repairs.invalid_escapes;
    } else {
      i += taken;
    }
  }
}

// Length of the valid UTF-8 sequence at text[i]; 0 if there is none.
size_t utf8_length(std::string_view text, size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  const size_t length = lead < 0x80       ? 1
                        : lead >> 5 == 6  ? 2
                        : lead >> 4 == 14 ? 3
                        : lead >> 3 == 30 ? 4
                                          : 0;
  if (length == 0 || i + length > text.size()) return 0;
  return is_utf8(text.substr(i, length)) ? length : 0;
}

std::string replace_invalid_utf8(std::string_view text, TextRepairs& repairs) {
  std::string clean;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i);
    if (length == 0) {
      clean += kReplacement;
      ++repairs.invalid_bytes;
      ++i;
    } else {
      clean += text.substr(i, length);
      i += length;
    }
  }
  return clean;
}

}  // namespace

std::string_view clean_json_text(std::string_view raw, bool check_utf8, std::string& scratch,
                                 TextRepairs& repairs) {
  const bool escaped = std::memchr(raw.data(), '\\', raw.size()) != nullptr;
  const bool damaged = check_utf8 && !is_utf8(raw);
  if (!escaped && !damaged) return raw;
  if (escaped) {
    resolve_escapes(raw, scratch, repairs);
  } else {
    scratch.assign(raw);
  }
  if (damaged) scratch = replace_invalid_utf8(scratch, repairs);
  return scratch;
}

std::string_view valid_utf8(std::string_view text, std::string& scratch, uint64_t& invalid_bytes) {
  if (is_utf8(text)) return text;
  TextRepairs repairs;
  scratch = replace_invalid_utf8(text, repairs);
  invalid_bytes += repairs.invalid_bytes;
  return scratch;
}

std::string_view compact_json(std::string_view raw, bool is_string, std::string& scratch) {
  std::string held;
  if (is_string) {
    TextRepairs repairs;
    const std::string_view content = clean_json_text(raw, false, held, repairs);
    const size_t first = content.find_first_not_of(" \t\r\n");
    const bool nested =
        first != std::string_view::npos && (content[first] == '[' || content[first] == '{');
    if (!nested) {
      scratch.assign(1, '"').append(raw).push_back('"');
      return scratch;
    }
    raw = content;
  }
  scratch.clear();
  bool in_string = false;
  for (size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    const bool escape = in_string && c == '\\' && i + 1 < raw.size();
    if (c == '"') in_string = !in_string;
    if (in_string || !is_json_space(c)) scratch += c;
    if (escape) scratch += raw[++i];
  }
  return scratch;
}

std::string without_bare_words(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string) {
      bool taken = false;
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (taken || text.substr(i, word.size()) != word) continue;
        kept += "null";
        i += word.size() - 1;
        taken = true;
      }
      if (taken) continue;
    }
    kept += c;
    if (in_string && c == '\\' && i + 1 < text.size()) {
      kept += text[++i];
    } else if (c == '"') {
      in_string = !in_string;
    }
  }
  return kept;
}

}  // namespace assay
