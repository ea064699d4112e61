#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

TEST(Numbers, AShareOfNothingIsNotKnown) {
  EXPECT_EQ(share(3, 4), 0.75);
  EXPECT_EQ(share(0, 4), 0);
  EXPECT_TRUE(std::isnan(share(3, 0)));
  EXPECT_TRUE(std::isnan(share(3, -4)));
  EXPECT_TRUE(std::isnan(kNan));
}

TEST(Numbers, DivisionRoundsUpOnlyWhereSomethingIsLeft) {
  EXPECT_EQ(divide_up(0, 5), 0);
  EXPECT_EQ(divide_up(1, 5), 1);
  EXPECT_EQ(divide_up(5, 5), 1);
  EXPECT_EQ(divide_up(6, 5), 2);
}

TEST(Numbers, AThousandOfEachUnitIsOneOfTheNext) {
  EXPECT_EQ(kMicrosecondNs, 1'000);
  EXPECT_EQ(kMillisecondNs, 1'000 * kMicrosecondNs);
  EXPECT_EQ(kSecondNs, 1'000 * kMillisecondNs);
  EXPECT_EQ(squared(-3), 9);
}

}  // namespace
}  // namespace assay
