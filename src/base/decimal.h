#pragma once

// Exact conversion of decimal text to integers, and of numbers to text. Epoch microseconds with a
// fraction have up to 19 digits. A double would round them by up to 256 ns (spec/formats 1.2),
// which is more than a launch.

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class DecimalStatus : uint8_t {
  kOk,
  kNotANumber,  // NaN, Infinity, hex, a bare word, empty text
  kOverflow,    // does not fit int64 after scaling
};

// Digits of one number; used to detect the time resolution of a file.
struct DecimalShape {
  uint8_t fraction_digits = 0;  // as written
  bool fraction_leading_zero = false;
};

// Value of a JSON number times 10^scale, rounded half away from zero to an integer.
// parse_decimal("12.0056", 3, ...) = 12006. Accepts a leading '+' and exponents. 0 <= scale <= 9.
DecimalStatus parse_decimal(std::string_view text, int scale, int64_t& value, DecimalShape& shape);

// Parses an integer without fraction or exponent. False for anything else or if it does not fit.
bool parse_int64(std::string_view text, int64_t& value);
bool parse_uint64(std::string_view text, uint64_t& value);

// Parses any JSON number as a double. False for NaN, Infinity and bare words.
bool parse_double(std::string_view text, double& value);

// The shortest text that parses to the same number. Whole numbers have no decimal point.
std::string shortest_text(double value);
// Rounded to `digits` significant digits, without trailing zeros.
std::string rounded_text(double value, int digits = 6);

}  // namespace assay
