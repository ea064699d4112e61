#pragma once

// Locale-independent ASCII character classes and case folding. Non-ASCII bytes belong to no class
// and are left unchanged.

#include <initializer_list>
#include <string>
#include <string_view>

namespace assay {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// True if `text` contains any of `parts`.
template <typename Parts>
constexpr bool contains_any(std::string_view text, const Parts& parts) {
  for (const std::string_view part : parts) {
    if (contains(text, part)) return true;
  }
  return false;
}
constexpr bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return contains_any<std::initializer_list<std::string_view>>(text, parts);
}

// Key that ignores spelling differences of a name: keeps letters (in lower case), digits and
// non-ASCII bytes.
inline std::string name_key(std::string_view name) {
  std::string key;
  for (const char c : name) {
    const bool beyond = static_cast<unsigned char>(c) >= 0x80;
    if (is_letter(c) || is_digit(c) || beyond) key += lower(c);
  }
  return key;
}

constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace assay
