#include "base/histogram.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (int64_t value = 0; value < 64; ++value) histogram.add(value);
  EXPECT_EQ(histogram.count(), 64u);
  EXPECT_EQ(histogram.quantile(0), 0);
  EXPECT_EQ(histogram.quantile(0.5), 31);  // the one at floor(63 * 0.5)
  EXPECT_EQ(histogram.quantile(1), 63);
}

TEST(Histogram, ALargeValueIsTheMiddleOfItsBucket) {
  Histogram histogram;
  histogram.add(1000);  // 992..1007: an octave of 512 in 32
  EXPECT_EQ(histogram.quantile(0.5), 1000);
  histogram.add(-5, 3);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.quantile(1), 1000);
  Histogram longest;
  longest.add(INT64_MAX);
  EXPECT_NEAR(static_cast<double>(longest.quantile(0.5)) / 0x1p63, 1, 1.0 / 64);
}

TEST(Histogram, BytesThatAreNoneAreRefused) {
  const auto refused = [](std::initializer_list<uint64_t> numbers) {
    VarintWriter bytes;
    for (const uint64_t number : numbers) bytes.add(number);
    VarintReader from(bytes.bytes());
    return Histogram::read(from) == Histogram() && !from.ok();
  };
  EXPECT_TRUE(refused({1, 5, 0}));                          // a bucket without values
  EXPECT_TRUE(refused({2, 5, 1, 0, 1}));                    // the same bucket twice
  EXPECT_TRUE(refused({1, 99999, 1}));                      // no such bucket
  EXPECT_TRUE(refused({2, 5, UINT64_MAX, 1, UINT64_MAX}));  // more than can be counted
  EXPECT_TRUE(refused({9, 5, 1}));                          // cut
  EXPECT_FALSE(refused({1, 5, 1}));
}

TEST(Varint, NumbersComeBackAndEndsAreNoticed) {
  VarintWriter to;
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, UINT64_MAX})
    to.add(value);
  for (const int64_t value : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX}) to.add_signed(value);
  to.add_text("text");
  VarintReader from(to.bytes());
  EXPECT_EQ(from.next(), 0u);
  EXPECT_EQ(from.next(), 127u);
  EXPECT_EQ(from.next(), 128u);
  EXPECT_EQ(from.next(), UINT64_MAX);
  EXPECT_EQ(from.next_signed(), 0);
  EXPECT_EQ(from.next_signed(), -1);
  EXPECT_EQ(from.next_signed(), INT64_MIN);
  EXPECT_EQ(from.next_signed(), INT64_MAX);
  EXPECT_EQ(from.next_text(), "text");
  EXPECT_TRUE(from.done() && from.ok());
  EXPECT_EQ(from.next(), 0u);
  EXPECT_FALSE(from.ok());
  VarintReader eleven("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
  eleven.next();
  EXPECT_FALSE(eleven.ok());
}

}  // namespace
}  // namespace assay
