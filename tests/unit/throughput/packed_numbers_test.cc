#include "throughput/packed_numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace assay {
namespace {

TEST(PackedNumbers, ByHand) {
  // 1 is 3ff0000000000000, least byte first 00 00 00 00 00 00 f0 3f.
  EXPECT_EQ(packed({1}), "AAAAAAAA8D8=");
  // -2 is c000000000000000.
  EXPECT_EQ(packed({1, -2}), "AAAAAAAA8D8AAAAAAAAAwA==");
  EXPECT_EQ(packed({}), "");
}

TEST(PackedNumbers, ComeBackToTheLastBit) {
  std::mt19937_64 random(3);
  for (size_t n = 0; n < 40; ++n) {
    std::vector<double> numbers = {0.1, -0.0, 5e-324, std::numeric_limits<double>::max()};
    for (size_t i = 0; i < n; ++i) numbers.push_back(1 / static_cast<double>(random()));
    EXPECT_EQ(unpacked(packed(numbers)), numbers);
  }
}

TEST(PackedNumbers, AnythingElseIsRefused) {
  for (const char* text : {"AAAAAAAA8D8", "AAAAAAAA8D8==", "AAAA", "AAAAAAAA8D*=", "A=AAAAAA8D8="})
    EXPECT_FALSE(unpacked(text)) << text;
  EXPECT_FALSE(unpacked(packed({std::numeric_limits<double>::infinity()})));
  EXPECT_FALSE(unpacked(packed({std::numeric_limits<double>::quiet_NaN()})));
}

}  // namespace
}  // namespace assay
