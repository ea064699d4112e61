#include "roof/utilisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay {
namespace {

DeviceRoof card(const char* name) { return device_roof(FactBook::built_in(), {.name = name}); }

OpWork product(double flop, ElementType math = ElementType::kBFloat16) {
  return {.kind = OpWorkKind::kProduct, .matrix = true, .math = math, .flop = flop};
}

// 0.5 s of BF16 at 989.4 TFLOP/s in a second: 494.7 TFLOP, of which a fifth is computed again.
TEST(Utilisation, LeavesOutWhatIsComputedAgain) {
  const DeviceRoof h100 = card("H100");
  ProductSums sums;
  sums.add(product(0.4 * 989.4e12), false, h100);
  sums.add(product(0.1 * 989.4e12), true, h100);
  sums.add({.kind = OpWorkKind::kElementwise, .flop = 1e15, .read_bytes = 0.25 * 3.35e12}, false,
           h100);
  const Utilisation use = utilisation_of(sums, h100, 1, 0.1);
  EXPECT_NEAR(use.mfu, 0.4, 1e-12);
  EXPECT_NEAR(use.hfu, 0.5, 1e-12);
  EXPECT_NEAR(use.mbu, 0.25, 1e-12);
  EXPECT_NEAR(use.mfu_low, 0.4, 1e-12);
  EXPECT_NEAR(use.mfu_high, 0.5, 1e-12);  // 0.1 s of products without known work
  EXPECT_EQ(use.peak_type, "bf16");
  EXPECT_EQ(use.peak_flop_per_s, 989.4e12);
  EXPECT_NE(use.peak_source, "");
}

// 0.4 with 0.005 s of unknown products is one number, with 0.04 s a tenth wide, with 0.1 s more.
TEST(Utilisation, IsExactWhereUnknownProductsHardlyMatter) {
  const DeviceRoof h100 = card("H100");
  ProductSums sums;
  sums.add(product(0.4 * 989.4e12), false, h100);
  EXPECT_TRUE(utilisation_of(sums, h100, 1, 0.005).is_exact());
  EXPECT_FALSE(utilisation_of(sums, h100, 1, 0.04).is_exact());
  EXPECT_TRUE(utilisation_of(sums, h100, 1, 0.0399).within(0.1));
  EXPECT_FALSE(utilisation_of(sums, h100, 1, 0.1).within(0.1));
  EXPECT_FALSE(Utilisation().is_exact());
  EXPECT_FALSE(utilisation_of({}, h100, 1, 0).is_exact());  // nothing multiplied
}

// MBU needs all bytes, and memory that carried them.
TEST(Utilisation, HasMbuWhereAllBytesAreKnown) {
  EXPECT_TRUE((Utilisation{.mbu = 0.5, .known_share = 0.99}.tells_mbu()));
  EXPECT_FALSE((Utilisation{.mbu = 0.5, .known_share = 0.9}.tells_mbu()));
  EXPECT_FALSE((Utilisation{.mbu = 1.2, .known_share = 0.99}.tells_mbu()));
  EXPECT_FALSE((Utilisation{.mbu = 0.5}.tells_mbu()));
}

// FP32 at 8 % of its 66.9 TFLOP/s is 0.54 % of BF16.
TEST(Utilisation, ByTypeIsOfEachProductsOwnPeak) {
  const DeviceRoof h100 = card("H100");
  ProductSums sums;
  sums.add(product(0.08 * 66.9e12, ElementType::kFloat32), false, h100);
  const Utilisation use = utilisation_of(sums, h100, 1, 0);
  EXPECT_NEAR(use.mfu_by_type, 0.08, 1e-12);
  EXPECT_NEAR(use.mfu, 0.08 * 66.9 / 989.4, 1e-12);
}

TEST(Utilisation, PeakIsOfTheTypeOfMostFlop) {
  const DeviceRoof h100 = card("H100");
  ProductSums sums;
  sums.add(product(2e12, ElementType::kFloat8), false, h100);
  sums.add(product(1e12), false, h100);
  EXPECT_EQ(utilisation_of(sums, h100, 1, 0).peak_type, "fp8");
  EXPECT_EQ(utilisation_of(sums, card("V100-SXM2-16GB"), 1, 0).peak_type, "");  // no FP8 units
  ProductSums half;
  half.add(product(2e12, ElementType::kFloat16), false, card("V100-SXM2-16GB"));
  EXPECT_EQ(utilisation_of(half, card("V100-SXM2-16GB"), 1, 0).peak_type, "fp16");
  EXPECT_TRUE(std::isnan(utilisation_of(sums, card("H100"), 0, 0).mfu));
  EXPECT_TRUE(std::isnan(utilisation_of(sums, card("nothing"), 1, 0).mfu));
}

// A causal mask of 4 queries and keys leaves 10 of 16 pairs; its backward multiplies five times, of
// which four are the model's.
TEST(Utilisation, AttentionCountsPairsAndItsBackwardFourProducts) {
  const DeviceRoof h100 = card("H100");
  OpWork backward{.kind = OpWorkKind::kAttention, .matrix = true, .math = ElementType::kBFloat16};
  backward.flop = 5 * 10;
  backward.repeated_flop = 10;
  backward.masked_flop = 5 * 6;
  ProductSums sums;
  sums.add(backward, false, h100);
  EXPECT_EQ(sums.flop, 50);
  EXPECT_EQ(sums.model_flop, 40);
  EXPECT_EQ(sums.all_pairs_flop, 64);
}

// For any calls: MFU is at most HFU and at least the sum of nothing; parts add up.
TEST(Utilisation, HfuIsAtLeastMfuAndPartsAddUp) {
  std::mt19937_64 random(7);
  const auto below = [&random](uint64_t n) { return static_cast<double>(random() % n); };
  const DeviceRoof roof = card("A100-80GB");
  for (int run = 0; run < 2000; ++run) {
    ProductSums whole;
    ProductSums parts[2];
    const int calls = 1 + static_cast<int>(below(20));
    for (int i = 0; i < calls; ++i) {
      OpWork work = product(below(1'000'000) * 1e9);
      work.kind = static_cast<OpWorkKind>(random() % kOpWorkKinds);
      work.read_bytes = below(1'000'000);
      if (work.kind == OpWorkKind::kAttention) {
        work.repeated_flop = work.flop / 5;
        work.masked_flop = work.flop * below(100) / 100;
      }
      const bool again = random() % 3 == 0;
      whole.add(work, again, roof);
      parts[random() % 2].add(work, again, roof);
    }
    const double seconds = 1 + below(100);
    const Utilisation use = utilisation_of(whole, roof, seconds, below(10));
    EXPECT_LE(use.mfu, use.hfu);
    EXPECT_GE(use.mfu_palm, use.mfu);
    EXPECT_LE(use.mfu_low, use.mfu_high);
    const double sum = utilisation_of(parts[0], roof, seconds, 0).mfu +
                       utilisation_of(parts[1], roof, seconds, 0).mfu;
    EXPECT_NEAR(sum, use.mfu, 1e-9 * (1 + use.mfu));
  }
}

}  // namespace
}  // namespace assay
