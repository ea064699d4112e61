#pragma once

// Uncertainty of a mean of autocorrelated values.
//
// Problem: iterations of one run are autocorrelated (clocks, caches, temperature, queue length). A
// confidence interval that assumes independence can be too short by a factor of 3 to 10, and two
// runs of the same program then appear to differ. Method: a first-order autoregression. With a
// correlation r of neighbours, the mean of n values has the variance s^2 V / n with V = 1 + 2 sum
// (1 - k/n) r^k, and the sample variance is only 1 - (V - 1) / (n - 1) of s^2. The observed r is
// too small by (1 + 3 r) / n (Kendall, Biometrika 41, 1954) and uncertain. The upper end of its
// one-sided 95 % interval is used instead, at most 0.95, because few values cannot rule out
// correlation. No r is large enough for values that drift, so half the interval is at least 1.5
// times the difference between the means of the two halves of the run. (A straight drift moves a
// mean by that difference; for a difference of two runs, up to 1.4 times that of each.) Effect:
// docs/measured/diff.md.

#include <vector>

#include "base/stats.h"

namespace assay {

// Factor by which to widen the half interval of a mean that was computed as if the values, in time
// order, were independent. At least 1; exactly 1 if all values are equal or there are fewer than
// two.
double memory_widening(const std::vector<double>& in_order);

// The same for the ranks of the values; equal values share the mean rank.
double rank_memory_widening(const std::vector<double>& in_order);

// Mean of values in time order with Student's interval, widened as above. `tail` is the probability
// excluded at each end. low = high = NaN for fewer than two values.
MeanInterval mean_interval_in_order(const std::vector<double>& in_order, double tail = 0.025);

}  // namespace assay
