#pragma once

// Descriptive statistics, as defined in docs/metrics.md#statistics.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

// Quantile q in [0,1] by linear interpolation between order statistics at (n-1)q (NumPy's default,
// Hyndman-Fan type 7). Sorted input; NaN when empty.
double quantile_sorted(const std::vector<int64_t>& sorted, double q);
double quantile_sorted(const std::vector<double>& sorted, double q);
// The smallest value that at least a share q of the values does not exceed. Requires a non-empty
// vector.
int64_t nearest_rank(const std::vector<int64_t>& sorted, double q);
// Index of that value among `count` sorted values; count > 0.
size_t nearest_rank_place(size_t count, double q);
double median(std::vector<double> values);
// Rounded to a whole nanosecond; requires at least one value.
int64_t median_ns(std::vector<int64_t> values);
// Durations of a repeated event. With a heavy tail the mean is not typical of any of them.
struct DurationSpread {
  uint64_t count = 0;
  int64_t mean_ns = 0;
  int64_t median_ns = 0;
  int64_t longest_ns = 0;
  // True if the mean is within half of the median, so that "count x mean" describes the durations.
  bool mean_is_typical() const;
};
DurationSpread duration_spread(const std::vector<int64_t>& durations_ns);
// Median absolute deviation from the median, unscaled.
double median_abs_deviation(const std::vector<double>& values);

// A mean over repeats with Student's 95 % interval; low = high = NaN when n < 2.
struct MeanInterval {
  double mean = 0;
  double low = 0;
  double high = 0;
  size_t n = 0;
};
MeanInterval mean_interval95(const std::vector<double>& values);

// The value that Student's t with `df` degrees of freedom exceeds with probability `tail`; df >= 1,
// 0 < tail < 0.5. Abramowitz and Stegun, 26.7.3 and 26.7.4; accurate to 1e-5 for df above 40 and
// tails of 1e-5 or more.
double student_t_above(size_t df, double tail);
// The same for two-sided and one-sided 95 %.
double student_t95(size_t df);
double student_t95_one_sided(size_t df);

// The value that a standard normal variable exceeds with probability `tail`; 0 < tail < 0.5.
double normal_above(double tail);

}  // namespace assay
