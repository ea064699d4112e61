#include "base/platform/wasm_numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "base/platform/platform.h"

namespace assay::platform {
namespace {

// Numbers of all sizes: bit patterns of a generator with a fixed seed (xorshift64).
double number_of(uint64_t& state) {
  do {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    double value;
    std::memcpy(&value, &state, sizeof(value));
    if (std::isfinite(value)) return value;
  } while (true);
}

void expect_same_text(double value) {
  const std::string text = double_text(value);
  EXPECT_EQ(wasm::double_text(value), text);
  for (const int digits : {1, 6, 17}) EXPECT_EQ(wasm::double_text(value, digits), double_text(value, digits));
  double read = 0;
  EXPECT_TRUE(wasm::read_double(text, read)) << text;
  EXPECT_EQ(read, value) << text;
}

TEST(WasmNumbers, TextsAreThoseOfToChars) {
  for (const double value :
       {0.0, -0.0, 1.0, 0.1, 100.0, 123456.0, 1e5, 1e6, 1e15, 1e21, 1e22, 1e23, 123456789012345678.0, 0.0001, 0.00001,
        1.5e-7, 4.9406564584124654e-324, 2.2250738585072014e-308, 9007199254740993.0, 6.02214076e23,
        std::numeric_limits<double>::max()}) {
    expect_same_text(value);
    expect_same_text(-value);
  }
  for (double power = 1; std::isfinite(power); power *= 2) {
    expect_same_text(power);
    expect_same_text(1 / power);
  }
  uint64_t state = 88172645463325252;
  for (int i = 0; i < 50000; ++i) expect_same_text(number_of(state));
  // What answers hold: quotients of small integers.
  for (int a = 1; a < 300; ++a) {
    for (int b = 1; b < 60; ++b) expect_same_text(static_cast<double>(a) / b);
  }
  EXPECT_EQ(wasm::double_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(WasmNumbers, ReadsAndRefusesTheTextsOfFromChars) {
  for (const char* text :
       {"", "0", "-0", "+1", " 1", "1 ", "1.", ".5", "-.5", "-", ".", "1e", "1e5", "1E+05", "1e-5", "1e400", "1e-400",
        "0x10", "-0x1p3", "nan", "inf", "-inf", "infinity", "1,5", "1_0", "00012", "1e5.0", "--1", "-+1",
        "123456789012345678901234567890", "0.000000000000000000000000000001", "2.2250738585072011e-308", "1e-320", "e5"}) {
    double native = 0;
    double own = 0;
    const bool reads = read_double(text, native);
    EXPECT_EQ(wasm::read_double(text, own), reads) << text;
    if (reads) {
      EXPECT_EQ(own, native) << text;
    }
  }
}

}  // namespace
}  // namespace assay::platform
