#pragma once

// Uncertainty of a mean of autocorrelated values.
//
// Problem: iterations of one run are autocorrelated (clocks, caches, heat, the length of a queue).
// An interval of their mean that assumes independence is too short by a factor that may be 3 or 10,
// and two runs of one program appear to differ. Method: a first-order autoregression. With a
// correlation r of neighbours, the mean of n values has the variance s^2 V / n, V = 1 + 2 sum (1 -
// k/n) r^k, and their own spread shows only 1 - (V - 1) / (n - 1) of s^2. The observed r is too
// small by (1 + 3 r) / n (Kendall, Biometrika 41, 1954) and uncertain. The upper end of its
// one-sided 95 % interval is used instead, 0.95 at most, because few values cannot exclude
// correlation. For values that drift, no r is large enough, so half an interval is at least 1.5
// times the difference between the halves of the run. (A straight drift moves a mean by that
// difference; two sides add up to 1.4 of each side's.) Effect: docs/measured/diff.md.

#include <vector>

#include "base/stats.h"

namespace assay {

// Factor for half an interval of the mean of values in order of time, computed as if they were
// independent. At least 1; equal to 1 if all values are equal or there are fewer than two.
double memory_widening(const std::vector<double>& in_order);

// The same where only the order of the values counts: of their ranks, those of equals shared.
double rank_memory_widening(const std::vector<double>& in_order);

// The mean of values in order of time, with Student's interval widened accordingly; each end leaves
// out `tail`. low = high = NaN for fewer than two values.
MeanInterval mean_interval_in_order(const std::vector<double>& in_order, double tail = 0.025);

}  // namespace assay
