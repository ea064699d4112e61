#pragma once

// Conversion between doubles and text where <charconv> supports only integers (LLVM 13). A unit
// test compiles it on Linux and compares it with std::from_chars and std::to_chars.

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/ascii.h"

namespace assay::platform::wasm {

inline bool read_double(std::string_view text, double& value) {
  // Reject what strtod accepts and from_chars does not: blanks, a plus sign, hexadecimal digits.
  if (text.empty()) return false;
  const char first = text[0] == '-' && text.size() > 1 ? text[1] : text[0];
  if (!is_digit(first) && first != '.') return false;
  if (text.find_first_of("xX") != std::string_view::npos) return false;
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  value = std::strtod(copy.c_str(), &end);
  if (errno == ERANGE && value == 0) return false;
  return end == copy.c_str() + copy.size() && std::isfinite(value);
}

// The digits are fmt's. Uses the shorter of plain and scientific notation, plain if equally long.
inline std::string double_text(double value) {
  if (!std::isfinite(value) || value == 0) return fmt::format("{}", value);
  const std::string written = fmt::format("{}", std::abs(value));
  std::string digits;
  int point = -1;
  size_t i = 0;
  for (; i < written.size() && written[i] != 'e'; ++i) {
    if (written[i] == '.') {
      point = static_cast<int>(digits.size());
    } else {
      digits += written[i];
    }
  }
  if (point < 0) point = static_cast<int>(digits.size());
  int exponent = point - 1;  // of the first digit
  if (i < written.size()) exponent += std::atoi(written.c_str() + i + 1);
  const size_t zeros = digits.find_first_not_of('0');
  digits.erase(0, zeros);
  exponent -= static_cast<int>(zeros);
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  const int n = static_cast<int>(digits.size());
  const std::string scientific = digits.substr(0, 1) + (n > 1 ? "." + digits.substr(1) : "") +
                                 fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  std::string plain;
  constexpr int kNeverPlain = 30;
  if (exponent < 0) {
    if (-exponent < kNeverPlain) plain = "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  } else if (n <= exponent + 1) {
    if (exponent < kNeverPlain) plain = fmt::format("{:.0f}", std::abs(value));
  } else {
    plain = digits;
    plain.insert(static_cast<size_t>(exponent + 1), ".");
  }
  const std::string& shorter = !plain.empty() && plain.size() <= scientific.size() ? plain : scientific;
  return std::signbit(value) ? "-" + shorter : shorter;
}

inline std::string double_text(double value, int digits) {
  std::array<char, 64> text;
  const int n = std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return {text.data(), static_cast<size_t>(n)};
}

}  // namespace assay::platform::wasm
