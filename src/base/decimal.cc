#include "base/decimal.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/ascii.h"
#include "base/platform/platform.h"

namespace assay {
namespace {

__extension__ typedef __int128 Int128;

constexpr int64_t kPowersOfTen[] = {1,      10,      100,      1000,      10000,
                                    100000, 1000000, 10000000, 100000000, 1000000000};

// General case: any number of digits, one dot, optional exponent. Collects the significant digits
// and the decimal position, then scales in 128 bits.
DecimalStatus parse_general(std::string_view text, int scale, int64_t& value, DecimalShape& shape) {
  size_t i = 0;
  bool negative = false;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  Int128 digits = 0;
  int position = 0;  // power of ten of the last collected digit
  bool any = false, dot = false;
  int fraction = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !dot) {
      dot = true;
      continue;
    }
    if (!is_digit(c)) break;
    if (dot) {
      if (fraction == 0) shape.fraction_leading_zero = c == '0';
      ++fraction;
    }
    any = true;
    if (digits < static_cast<Int128>(std::numeric_limits<int64_t>::max()) * 1000) {
      digits = digits * 10 + (c - '0');
      if (dot) --position;
    } else if (!dot) {
      // The digits already exceed int64 by a factor of 1000: further ones are shifted out or
      // overflow.
      ++position;
    }
  }
  shape.fraction_digits = static_cast<uint8_t>(fraction > 255 ? 255 : fraction);
  if (!any) return DecimalStatus::kNotANumber;
  int exponent = 0;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && text[i] == '+') ++i;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + i, end, exponent);
    if (parsed.ec != std::errc() || parsed.ptr != end) return DecimalStatus::kNotANumber;
    i = text.size();
  }
  if (i != text.size()) return DecimalStatus::kNotANumber;
  // A larger |exponent| gives 0 or an overflow for any digits.
  if (exponent > 100) exponent = 100;
  if (exponent < -100) exponent = -100;
  int shift = position + exponent + scale;
  for (; shift > 0 && digits != 0; --shift) {
    digits *= 10;
    if (digits > std::numeric_limits<int64_t>::max()) return DecimalStatus::kOverflow;
  }
  int last = 0;
  for (; shift < 0 && digits != 0; ++shift) {
    last = static_cast<int>(digits % 10);
    digits /= 10;
  }
  if (shift < 0) last = 0;  // the remainder is less than half a unit
  if (last >= 5) digits += 1;
  if (digits > std::numeric_limits<int64_t>::max()) return DecimalStatus::kOverflow;
  value = static_cast<int64_t>(negative ? -digits : digits);
  return DecimalStatus::kOk;
}

}  // namespace

DecimalStatus parse_decimal(std::string_view text, int scale, int64_t& value, DecimalShape& shape) {
  // Fast path: up to 15 integer digits and up to `scale` fraction digits.
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  const char* const first = p;
  int64_t integer = 0;
  while (p != end && is_digit(*p) && p - first < 16) integer = integer * 10 + (*p++ - '0');
  const auto integer_digits = p - first;
  if (integer_digits == 0 || integer_digits > 15) return parse_general(text, scale, value, shape);
  if (integer_digits + scale > 18) return parse_general(text, scale, value, shape);
  int64_t scaled = integer * kPowersOfTen[scale];
  if (p == end) {
    value = negative ? -scaled : scaled;
    shape = {};
    return DecimalStatus::kOk;
  }
  if (*p != '.') return parse_general(text, scale, value, shape);
  ++p;
  const auto fraction_digits = end - p;
  if (fraction_digits < 1 || fraction_digits > scale)
    return parse_general(text, scale, value, shape);
  shape.fraction_digits = static_cast<uint8_t>(fraction_digits);
  shape.fraction_leading_zero = *p == '0';
  int64_t fraction = 0;
  for (; p != end; ++p) {
    if (!is_digit(*p)) return parse_general(text, scale, value, shape);
    fraction = fraction * 10 + (*p - '0');
  }
  scaled += fraction * kPowersOfTen[scale - fraction_digits];
  value = negative ? -scaled : scaled;
  return DecimalStatus::kOk;
}

bool parse_int64(std::string_view text, int64_t& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
}

bool parse_uint64(std::string_view text, uint64_t& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
}

bool parse_double(std::string_view text, double& value) { return platform::read_double(text, value); }

std::string shortest_text(double value) { return platform::double_text(value); }

std::string rounded_text(double value, int digits) {
  return platform::double_text(value, std::min(digits, 17));
}

}  // namespace assay
