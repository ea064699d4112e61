#pragma once

// Robust difference between two sets of values.
//
// Problem: one iteration of 600 ms among thirty of 120 ms (a checkpoint, a first batch) widens the
// interval of the mean until it hides a change of every other iteration. Method: the Hodges-Lehmann
// shift, the median of all differences between a value of B and one of A, with the interval of the
// Mann-Whitney test. The interval ends at differences of the rank that the test's distribution
// under no change excludes (exact up to 30 values a side, else the normal approximation). It
// assumes that both sides have the same distribution except for the shift, and that neighbours are
// independent. For correlated values the ranks are further out. Effect: 16 steps of 150.6 ms, among
// them one of 600 ms, take 122.5 ms after a fix of the data loader. The mean grows by 1.9 ms, -37
// to +79; the shift is -27.9 ms, -28.4 to -27.2.

#include <cstddef>
#include <vector>

namespace assay {

struct Shift {
  bool known = false;  // enough values for the interval: at 95 %, four a side, or three and five
  double change = 0;   // B less A
  double low = 0;
  double high = 0;
  double a = 0;  // median of A
  bool real() const { return known && (low > 0 || high < 0); }
};
constexpr double kShiftTail = 0.025;  // left out at each end: 95 %
// Exchanging the sides changes the sign. tail: smaller if the most striking of several shifts is
// reported. memory_a, memory_b: factor by which correlation on each side spreads the test
// (rank_memory_widening of base/memory.h).
Shift shift_between(const std::vector<double>& a, const std::vector<double>& b,
                    double tail = kShiftTail, double memory_a = 1, double memory_b = 1);

// The same for two series in order of time with possible autocorrelation, in few blocks
// (few_block_means). A series may be too short to exclude correlation, and the ranks then lie
// beyond the ends. The result is then the difference of the means, with Student's interval of each,
// widened accordingly, added in quadrature. Needs three finite values a side. Effect:
// docs/measured/insights.md.
Shift shift_of_rows(const std::vector<double>& a, const std::vector<double>& b,
                    double tail = kShiftTail);

// The same for pairs, one value of A and one of B under the same conditions: the median of the
// pairwise means of the differences, with the interval of Wilcoxon's signed ranks. Needs six pairs;
// a and b have equal length.
Shift shift_of_pairs(const std::vector<double>& a, const std::vector<double>& b,
                     double tail = kShiftTail);

// Stretches of a row of n iterations, as even as whole ones can be made. A short last block is made
// part of the one before.
class EvenBlocks {
 public:
  // Blocks of the length of the cube root of n, 64 at most. The blocks are then assumed independent
  // (Hall, Horowitz and Jing, Biometrika 82, 1995, for the rate).
  explicit EvenBlocks(size_t n);
  // Single values up to 24, else between 12 and 24 blocks, for uses that measure the correlation
  // between blocks (base/memory.h). That is enough for the measurement, and longer blocks hide
  // less.
  static EvenBlocks of_few(size_t n);
  size_t count() const { return count_; }
  size_t of(size_t i) const;  // i < n

 private:
  EvenBlocks(size_t n, size_t length);

  size_t length_ = 1;
  size_t count_ = 0;
};
// Of values in order of time, the mean of each block of those that are finite.
std::vector<double> block_means(const std::vector<double>& values);
std::vector<double> few_block_means(const std::vector<double>& values);  // EvenBlocks::of_few

}  // namespace assay
