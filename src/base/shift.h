#pragma once

// How far one set of values lies from another, whatever a few far from the rest do.
//
// Problem: one iteration of 600 ms among thirty of 120 ms (a checkpoint, a first batch) widens the
// interval of the mean until a change of every other iteration lies inside it.
// Method: the shift of Hodges and Lehmann, the median of all differences between a value of B and
// one of A, with the interval of the Mann-Whitney test: differences of the rank that the test's
// distribution under no change cuts off (exact up to 30 values a side, else the normal
// approximation). It asks for no shape of the distribution, only that both sides have the same but
// for the shift, and that values of a side do not resemble their neighbours. Where they may, the
// ranks are cut off further out.
// Effect: 16 steps of 150.6 ms that a loader's mending takes to 122.5 ms, one of 600 ms among them:
// the mean grows by 1.9 ms, -37 to +79; the shift is -27.9 ms, -28.4 to -27.2.

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
// Exchanged sides give the opposite. tail: smaller where several shifts are looked at and the most
// striking is told. memory_a, memory_b: how much wider the values of a side spread the test than
// values that stand by themselves (rank_memory_widening of base/memory.h).
Shift shift_between(const std::vector<double>& a, const std::vector<double>& b,
                    double tail = kShiftTail, double memory_a = 1, double memory_b = 1);

// The same of two rows of values in order of time that may resemble their neighbours, in few blocks
// (few_block_means). Where the ranks would be cut off beyond the ends, because a row is too short
// to show that it has no memory, the difference of the means with Student's interval of each, so
// widened, the two squared and added. Known from three finite values a side on.
// Effect: docs/measured/insights.md.
Shift shift_of_rows(const std::vector<double>& a, const std::vector<double>& b,
                    double tail = kShiftTail);

// The same of pairs, one value of A and one of B taken under the same circumstances: the median of
// the means of every two differences, with the interval of Wilcoxon's signed ranks. Known from six
// pairs on; a and b are as long.
Shift shift_of_pairs(const std::vector<double>& a, const std::vector<double>& b,
                     double tail = kShiftTail);

// Stretches of a row of n iterations, as even as whole ones can be made. A short last block is made
// part of the one before.
class EvenBlocks {
 public:
  // Of the cube root of their number, 64 at most: where blocks are then taken as independent
  // (Hall, Horowitz and Jing, Biometrika 82, 1995, for the rate).
  explicit EvenBlocks(size_t n);
  // Each by itself up to 24, else between 12 and 24: where what blocks have in common is measured
  // (base/memory.h). So many are enough for that, and longer ones hide less.
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
