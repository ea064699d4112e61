#include "base/decimal.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

int64_t micros(std::string_view text) {
  int64_t ns = -1;
  DecimalShape shape;
  EXPECT_EQ(parse_decimal(text, 3, ns, shape), DecimalStatus::kOk) << text;
  return ns;
}

DecimalStatus status(std::string_view text, int scale = 3) {
  int64_t value = 0;
  DecimalShape shape;
  return parse_decimal(text, scale, value, shape);
}

TEST(Decimal, MicrosecondsBecomeExactNanoseconds) {
  EXPECT_EQ(micros("12.0056"), 12006);
  EXPECT_EQ(micros("0"), 0);
  EXPECT_EQ(micros("5"), 5000);
  EXPECT_EQ(micros("5.1"), 5100);
  EXPECT_EQ(micros("5.12"), 5120);
  EXPECT_EQ(micros("5.123"), 5123);
  EXPECT_EQ(micros("-26.94"), -26940);
  EXPECT_EQ(micros("-0.5"), -500);
}

// Through double this would be off by 25 ns.
TEST(Decimal, EpochMicrosecondsWithFractionAreExact) {
  EXPECT_EQ(micros("1722860000123456.789"), 1722860000123456789);
  EXPECT_EQ(micros("1712185898123456.001"), 1712185898123456001);
}

TEST(Decimal, MoreDigitsThanTheScaleAreRounded) {
  EXPECT_EQ(micros("1053251.7433166504"), 1053251743);
  EXPECT_EQ(micros("1.0004999999"), 1000);
  EXPECT_EQ(micros("1.0005"), 1001);
  EXPECT_EQ(micros("0.00049999999999999999999999999999"), 0);
}

TEST(Decimal, ExponentsAreExact) {
  EXPECT_EQ(micros("1.722860000123456789e15"), 1722860000123456789);
  EXPECT_EQ(micros("1E3"), 1000000);
  EXPECT_EQ(micros("5e-3"), 5);
  EXPECT_EQ(micros("5e-30"), 0);
  EXPECT_EQ(micros("0e99"), 0);
}

TEST(Decimal, ReportsOverflowInsteadOfWrapping) {
  EXPECT_EQ(status("9223372036854775.807"), DecimalStatus::kOk);
  EXPECT_EQ(status("9223372036854775.808"), DecimalStatus::kOverflow);
  EXPECT_EQ(status("1e300"), DecimalStatus::kOverflow);
  EXPECT_EQ(status("99999999999999999999999999999999999999999999"), DecimalStatus::kOverflow);
}

TEST(Decimal, RejectsNonNumbers) {
  for (const char* text :
       {"", "-", ".", "NaN", "inf", "0x10", "1.2.3", "12a", "1e", "--1", "1 2"}) {
    EXPECT_EQ(status(text), DecimalStatus::kNotANumber) << text;
  }
}

TEST(Decimal, ShapeHasTheResolution) {
  int64_t ns = 0;
  DecimalShape shape;
  parse_decimal("5", 3, ns, shape);
  EXPECT_EQ(shape.fraction_digits, 0);
  parse_decimal("5.05", 3, ns, shape);
  EXPECT_EQ(shape.fraction_digits, 2);
  EXPECT_TRUE(shape.fraction_leading_zero);
  parse_decimal("5.5", 3, ns, shape);
  EXPECT_FALSE(shape.fraction_leading_zero);
}

TEST(Decimal, Integers) {
  int64_t value = 0;
  EXPECT_TRUE(parse_int64("-9223372036854775808", value));
  EXPECT_EQ(value, INT64_MIN);
  EXPECT_FALSE(parse_int64("9223372036854775808", value));
  EXPECT_FALSE(parse_int64("1.0", value));
  EXPECT_FALSE(parse_int64("", value));
  uint64_t big = 0;
  EXPECT_TRUE(parse_uint64("18446744073709551615", big));
  EXPECT_EQ(big, UINT64_MAX);
}

TEST(Decimal, Doubles) {
  double value = 0;
  EXPECT_TRUE(parse_double("1e3", value));
  EXPECT_EQ(value, 1000.0);
  EXPECT_FALSE(parse_double("NaN", value));
  EXPECT_FALSE(parse_double("Infinity", value));
  EXPECT_FALSE(parse_double("12W", value));
}

TEST(Decimal, TextsOfNumbers) {
  EXPECT_EQ(shortest_text(128), "128");
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(rounded_text(1.0 / 3), "0.333333");
  EXPECT_EQ(rounded_text(1234567), "1.23457e+06");
  EXPECT_EQ(rounded_text(9.765625, 4), "9.766");
  EXPECT_EQ(rounded_text(2.5, 40), "2.5");
}

}  // namespace
}  // namespace assay
