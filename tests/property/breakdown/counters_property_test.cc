#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "breakdown/lcs.h"
#include "breakdown/waterfall.h"

namespace assay {
namespace {

uint64_t below(std::mt19937_64& random, uint64_t limit) { return random() % limit; }
double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

size_t common_by_table(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      best[i][j] =
          a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
    }
  }
  return best[a.size()][b.size()];
}

TEST(CommonSubsequenceProperty, IsAsLongAsTheTableSaysAndRises) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 4000; ++round) {
    const uint64_t letters = 1 + below(random, 4);
    std::vector<uint32_t> a(below(random, 15));
    std::vector<uint32_t> b(below(random, 15));
    for (uint32_t& token : a) token = static_cast<uint32_t>(below(random, letters));
    for (uint32_t& token : b) token = static_cast<uint32_t>(below(random, letters));
    const size_t want = common_by_table(a, b);
    const size_t differences = a.size() + b.size() - 2 * want;
    const auto pairs = common_subsequence(a, b, differences);
    ASSERT_TRUE(pairs);
    ASSERT_EQ(pairs->size(), want);
    for (size_t i = 0; i < pairs->size(); ++i) {
      ASSERT_EQ(a[(*pairs)[i].first], b[(*pairs)[i].second]);
      if (i == 0) continue;
      ASSERT_LT((*pairs)[i - 1].first, (*pairs)[i].first);
      ASSERT_LT((*pairs)[i - 1].second, (*pairs)[i].second);
    }
    if (differences > 0) {
      ASSERT_FALSE(common_subsequence(a, b, differences - 1));
    }
  }
}

TEST(CommonSubsequenceProperty, AHundredThousandKernelsWithEditsAreAligned) {
  std::mt19937_64 random(2);
  std::vector<uint32_t> a(100000);
  for (uint32_t& token : a) token = static_cast<uint32_t>(below(random, 60));
  std::vector<uint32_t> b = a;
  uint64_t edits = 0;
  for (; edits < 500; ++edits) b[below(random, b.size())] = 1000 + static_cast<uint32_t>(edits);
  const auto pairs = common_subsequence(a, b, a.size() / 4);
  ASSERT_TRUE(pairs);
  EXPECT_GE(pairs->size(), a.size() - edits);
}

TEST(WaterfallProperty, BarsSumToTheMeasuredTimeExactly) {
  std::mt19937_64 random(3);
  const WaterfallPeaks peaks{"any", 1.3e15, 2.1e9, "test"};
  int made_some = 0;
  for (int round = 0; round < 20000; ++round) {
    WaterfallInput input;
    input.flop_counted = std::exp(20 + 15 * unit(random));
    input.flop = below(random, 3) == 0 ? kNan : input.flop_counted / (0.9 + unit(random));
    input.matrix_busy = 0.01 + 0.99 * unit(random);
    input.overlap_factor = 0.8 + unit(random);
    // Cycles so that rho lies between 0.05 and 1.
    const double rho = 0.05 + 0.95 * unit(random);
    input.cycles =
        input.flop_counted / (peaks.flop_per_s * input.matrix_busy * rho) * peaks.clock_hz;
    input.d_act_ns = std::round(input.cycles / peaks.clock_hz * 1e9 * (0.5 + 2 * unit(random)));
    const auto made = make_waterfall(input, peaks);
    if (input.d_act_ns < 1) continue;
    ASSERT_TRUE(made) << made.error().message;
    ++made_some;
    const auto sum = std::accumulate(made->bars_ns.begin(), made->bars_ns.end(), int64_t{0});
    ASSERT_EQ(sum, std::llround(input.d_act_ns));
    // The closure: the product of threshold and factors is rho times the measured time.
    const double product =
        made->d_thr_ns * made->instruction * made->utilisation * made->overlap * made->frequency;
    ASSERT_NEAR(product / (made->residual * made->d_act_ns), 1, 1e-9);
  }
  EXPECT_GT(made_some, 19000);
}

TEST(OverlapFactorProperty, CurveAndQuantileAgreeOnMonotoneRelationsAndOrderDoesNotMatter) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    std::vector<OverlapSample> samples;
    const double slope = unit(random);
    const auto count = 3 + below(random, 40);
    for (uint64_t i = 0; i < count; ++i) {
      const double overlap = unit(random);
      samples.push_back({0, overlap, 1000 * (1 + slope * overlap)});
    }
    const double curve = overlap_factor(samples, OverlapReading::kCurve).factor;
    const double quantile = overlap_factor(samples, OverlapReading::kQuantile).factor;
    ASSERT_NEAR(curve, quantile, 1e-12);
    ASSERT_GE(curve, 1);
    std::reverse(samples.begin(), samples.end());
    for (const OverlapReading reading :
         {OverlapReading::kCurve, OverlapReading::kCumulative, OverlapReading::kQuantile}) {
      const double before = overlap_factor(samples, reading).factor;
      std::rotate(samples.begin(), samples.begin() + 1, samples.end());
      ASSERT_EQ(overlap_factor(samples, reading).factor, before);
    }
  }
}

}  // namespace
}  // namespace assay
