#pragma once

// What it costs a mean that values resemble those before them.
//
// Problem: iterations of one run have a memory (clocks, caches, heat, the length of a queue). The
// interval of their mean, made as if each stood by itself, is then too short by a factor that may
// be 3 or 10, and two runs of one program are told to differ.
// Method: of an autoregression of first order, n values of which neighbours are alike by r have a
// mean of the variance s^2 V / n, V = 1 + 2 sum (1 - k/n) r^k, and their own spread shows only
// 1 - (V - 1) / (n - 1) of s^2. r is not the one that was seen, which is too small by
// (1 + 3 r) / n (Kendall, Biometrika 41, 1954) and uncertain, but the upper end of its one-sided
// 95 % interval, 0.95 at most: few values cannot say that they have no memory, and count little.
// Where they go on drifting, no r is large enough: half an interval is at least 1.5 times what the
// halves of the run differ by. (Of a straight drift a mean is off by that difference; those of two
// sides add up to 1.4 of each side's.)
// Effect: docs/measured/diff.md.

#include <vector>

#include "base/stats.h"

namespace assay {

// By which half an interval of the mean of values in order of time, made as if each stood by
// itself, is to be multiplied; 1 or more, and 1 where all are alike or there are fewer than two.
double memory_widening(const std::vector<double>& in_order);

// The same where only the order of the values counts: of their ranks, those of equals shared.
double rank_memory_widening(const std::vector<double>& in_order);

// The mean of values in order of time with Student's interval, widened so; `tail` is left out at
// each end. low = high = NaN when there are fewer than two.
MeanInterval mean_interval_in_order(const std::vector<double>& in_order, double tail = 0.025);

}  // namespace assay
