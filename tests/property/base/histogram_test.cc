// Histograms put together in any order against the values themselves.

#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace assay {
namespace {

std::string bytes_of(const Histogram& histogram) {
  VarintWriter to;
  histogram.write(to);
  return to.bytes();
}

// Values of all sizes.
std::vector<int64_t> random_values(std::mt19937_64& generator) {
  std::vector<int64_t> values(1 + generator() % 2000);
  for (int64_t& value : values) {
    value = static_cast<int64_t>(generator() >> (1 + generator() % 63));
  }
  return values;
}

TEST(HistogramProperty, AQuantileIsWithinASixtyFourthOfTheExactOne) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 generator(seed);
    std::vector<int64_t> values = random_values(generator);
    Histogram histogram;
    for (const int64_t value : values) histogram.add(value);
    std::sort(values.begin(), values.end());
    for (const double q : {0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0}) {
      const auto at = static_cast<size_t>(std::floor(static_cast<double>(values.size() - 1) * q));
      const auto exact = static_cast<double>(values[at]);
      ASSERT_LE(std::abs(static_cast<double>(histogram.quantile(q)) - exact), exact / 64)
          << "seed " << seed << " q " << q;
    }
  }
}

TEST(HistogramProperty, AnyTreeOfMergesGivesTheSameBytes) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 generator(seed);
    const std::vector<int64_t> values = random_values(generator);
    Histogram whole;
    std::vector<Histogram> parts(1 + generator() % 7);
    for (const int64_t value : values) {
      whole.add(value);
      parts[generator() % parts.size()].add(value);
    }
    while (parts.size() > 1) {
      const size_t to = generator() % parts.size();
      const size_t from = (to + 1 + generator() % (parts.size() - 1)) % parts.size();
      parts[to].merge(parts[from]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(from));
    }
    ASSERT_EQ(bytes_of(parts.front()), bytes_of(whole)) << "seed " << seed;
    const std::string bytes = bytes_of(whole);
    VarintReader from(bytes);
    ASSERT_EQ(Histogram::read(from), whole);
    ASSERT_TRUE(from.ok() && from.done());
  }
}

}  // namespace
}  // namespace assay
