#pragma once

// Robust difference between two sets of values.
//
// Problem: one iteration of 600 ms among thirty of 120 ms (a checkpoint, a first batch) widens the
// confidence interval of the mean so much that it hides a change of every other iteration. Method:
// the Hodges-Lehmann shift, the median of all differences between a value of B and one of A, with
// the interval of the Mann-Whitney test. The ends of the interval are the differences at the ranks
// given by the test's null distribution (exact up to 30 values per side, otherwise the normal
// approximation). It assumes that both sides have the same distribution except for the shift, and
// that neighbours are independent; for correlated values the ranks are further out. Effect: of 16
// steps, one takes 600 ms and the others 150.6 ms, or 122.5 ms after a fix of the data loader. The
// mean then changes by +1.9 ms (-37 to +79), the shift is -27.9 ms (-28.4 to -27.2).

#include <cstddef>
#include <vector>

namespace assay {

struct Shift {
  bool known = false;  // enough values for the interval: at 95 %, 4 per side, or 3 and 5
  double change = 0;   // B minus A
  double low = 0;
  double high = 0;
  double a = 0;  // median of A
  bool real() const { return known && (low > 0 || high < 0); }
};
constexpr double kShiftTail = 0.025;  // probability excluded at each end, for a 95 % interval
// Swapping the sides changes the sign. tail: use a smaller one if only the most significant of
// several shifts is reported. memory_a, memory_b: factors by which autocorrelation within each side
// widens the test (rank_memory_widening of base/memory.h).
Shift shift_between(const std::vector<double>& a, const std::vector<double>& b,
                    double tail = kShiftTail, double memory_a = 1, double memory_b = 1);

// The same for two time series that may be autocorrelated, reduced to few blocks (few_block_means).
// If a series is too short to rule out correlation, the ranks would fall outside the data. The
// result is then the difference of the means with the quadrature sum of their widened Student's
// intervals. Needs three finite values per side. Effect: docs/measured/insights.md.
Shift shift_of_rows(const std::vector<double>& a, const std::vector<double>& b,
                    double tail = kShiftTail);

// The same for pairs, one value of A and one of B under the same conditions: the median of the
// pairwise means of the differences, with the interval of Wilcoxon's signed-rank test. Needs six
// pairs; a and b have equal length.
Shift shift_of_pairs(const std::vector<double>& a, const std::vector<double>& b,
                     double tail = kShiftTail);

// Splits n consecutive iterations into blocks of nearly equal whole length. A short last block is
// merged into the one before it.
class EvenBlocks {
 public:
  // Block length is the cube root of n, at most 64. The blocks are then assumed independent (rate:
  // Hall, Horowitz and Jing, Biometrika 82, 1995).
  explicit EvenBlocks(size_t n);
  // Single values up to 24, otherwise 12 to 24 blocks, for callers that measure the correlation
  // between blocks (base/memory.h). That number is enough for the measurement, and longer blocks
  // would hide more of the correlation.
  static EvenBlocks of_few(size_t n);
  size_t count() const { return count_; }
  size_t of(size_t i) const;  // block of iteration i < n

 private:
  EvenBlocks(size_t n, size_t length);

  size_t length_ = 1;
  size_t count_ = 0;
};
// Means over blocks of the finite values, in time order.
std::vector<double> block_means(const std::vector<double>& values);
std::vector<double> few_block_means(const std::vector<double>& values);  // EvenBlocks::of_few

}  // namespace assay
