#pragma once

// Tests against the bulk of like values.

#include <cstdint>
#include <vector>

namespace assay {

// Of p-values the least share of false names at which each would still be named: adjusted p after
// Benjamini and Hochberg (1995).
std::vector<double> adjusted_p(const std::vector<double>& p);

// One-sided p of values above the bulk: normal, with the median for its centre and 1.4826 times the
// median distance from it for its scale.
std::vector<double> upper_p(const std::vector<double>& values);

// One-sided p of the members of a set having higher values than the rest: rank sum, normal. order:
// 1 for the lowest of n values, ties in the middle.
double rank_sum_p(double order_sum, uint64_t members, uint64_t n);
// The order of each value.
std::vector<double> order_of(const std::vector<double>& values);

}  // namespace assay
