#include "base/shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/memory.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr size_t kExactUpTo = 30;
constexpr size_t kMostBlocks = 64;  // more blocks do not narrow the interval and cost time
constexpr size_t kFewBlocks = 24;
constexpr size_t kLeastInOrder = 3;  // two values have no correlation to measure

// Number of orderings of n and m values for each Mann-Whitney statistic u: those with the largest
// value in the first sample, plus those with it in the second.
std::vector<double> ways_of_u(size_t n, size_t m) {
  std::vector<std::vector<double>> row(m + 1, {1.0});  // for j values and 0 values
  for (size_t i = 1; i <= n; ++i) {
    std::vector<std::vector<double>> next(m + 1);
    next[0] = {1.0};
    for (size_t j = 1; j <= m; ++j) {
      next[j].assign(i * j + 1, 0.0);
      for (size_t u = 0; u < row[j].size(); ++u) next[j][u + j] += row[j][u];
      for (size_t u = 0; u < next[j - 1].size(); ++u) next[j][u] += next[j - 1][u];
    }
    row = std::move(next);
  }
  return row[m];
}

// The largest u with P(U <= u) <= tail; -1 if there is none.
std::ptrdiff_t cut_ways(const std::vector<double>& ways, double tail) {
  double all = 0;
  for (const double one : ways) all += one;
  double below = 0;
  std::ptrdiff_t cut = -1;
  for (const double one : ways) {
    below += one;
    if (below > tail * all) break;
    ++cut;
  }
  return cut;
}

// Index of the ordered difference at the lower end of the interval; below 0 if no interval has the
// requested confidence.
std::ptrdiff_t cut_off(size_t n, size_t m, double tail) {
  if (n > kExactUpTo || m > kExactUpTo) {
    const auto product = static_cast<double>(n) * static_cast<double>(m);
    const double spread = std::sqrt(product * static_cast<double>(n + m + 1) / 12);
    return static_cast<std::ptrdiff_t>(std::floor(product / 2 - normal_above(tail) * spread)) - 1;
  }
  return cut_ways(ways_of_u(n, m), tail);
}

// Combined factor by which autocorrelation of the two sides widens the test's distribution.
double widening_of(size_t n_a, double memory_a, size_t n_b, double memory_b) {
  const double share_a = 1 / static_cast<double>(n_a);
  const double share_b = 1 / static_cast<double>(n_b);
  return std::sqrt((memory_a * memory_a * share_a + memory_b * memory_b * share_b) /
                   (share_a + share_b));
}

// Moves the index `cut` of `all` ordered differences away from their middle by the factor
// `widening`.
std::ptrdiff_t further_out(std::ptrdiff_t cut, size_t all, double widening) {
  if (widening <= 1) return cut;
  const double middle = static_cast<double>(all) / 2;
  return static_cast<std::ptrdiff_t>(
      std::floor(middle - widening * (middle - static_cast<double>(cut))));
}

// The same index for the ordered Walsh averages of n paired differences.
std::ptrdiff_t cut_off_pairs(size_t n, double tail) {
  if (n > kExactUpTo) {
    const auto count = static_cast<double>(n);
    const double spread = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
    const double middle = count * (count + 1) / 4;
    return static_cast<std::ptrdiff_t>(std::floor(middle - normal_above(tail) * spread)) - 1;
  }
  // Number of sign patterns for each sum w of the positive ranks.
  std::vector<double> ways = {1.0};
  for (size_t rank = 1; rank <= n; ++rank) {
    std::vector<double> next(ways.size() + rank, 0.0);
    for (size_t w = 0; w < ways.size(); ++w) {
      next[w] += ways[w];
      next[w + rank] += ways[w];
    }
    ways = std::move(next);
  }
  return cut_ways(ways, tail);
}

std::vector<double> finite_values(const std::vector<double>& values) {
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  return finite;
}

std::vector<double> means_of(const std::vector<double>& values, const EvenBlocks& blocks) {
  std::vector<double> sums(blocks.count(), 0.0);
  std::vector<double> counts(blocks.count(), 0.0);
  for (size_t i = 0; i < values.size(); ++i) {
    sums[blocks.of(i)] += values[i];
    ++counts[blocks.of(i)];
  }
  for (size_t b = 0; b < sums.size(); ++b) sums[b] /= counts[b];
  return sums;
}

Shift shift_of_means(const std::vector<double>& a, const std::vector<double>& b, double tail) {
  if (std::min(a.size(), b.size()) < kLeastInOrder) return {};
  const MeanInterval from = mean_interval_in_order(a, tail);
  const MeanInterval to = mean_interval_in_order(b, tail);
  const double change = to.mean - from.mean;
  const double half = std::hypot(from.high - from.mean, to.high - to.mean);
  return {
      .known = true, .change = change, .low = change - half, .high = change + half, .a = median(a)};
}

Shift between_ends(std::vector<double> sorted, std::ptrdiff_t cut, const std::vector<double>& a) {
  Shift shift;
  shift.known = true;
  shift.low = sorted[static_cast<size_t>(cut)];
  shift.high = sorted[sorted.size() - 1 - static_cast<size_t>(cut)];
  shift.change = median(std::move(sorted));
  shift.a = median(a);
  return shift;
}

}  // namespace

Shift shift_between(const std::vector<double>& a, const std::vector<double>& b, double tail,
                    double memory_a, double memory_b) {
  if (a.empty() || b.empty()) return {};
  const double widening = widening_of(a.size(), memory_a, b.size(), memory_b);
  const std::ptrdiff_t cut =
      further_out(cut_off(a.size(), b.size(), tail), a.size() * b.size(), widening);
  if (cut < 0) return {};
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double from : a) {
    for (const double to : b) differences.push_back(to - from);
  }
  std::sort(differences.begin(), differences.end());
  return between_ends(std::move(differences), cut, a);
}

Shift shift_of_rows(const std::vector<double>& a, const std::vector<double>& b, double tail) {
  const std::vector<double> from = few_block_means(a);
  const std::vector<double> to = few_block_means(b);
  const Shift by_ranks =
      shift_between(from, to, tail, rank_memory_widening(from), rank_memory_widening(to));
  return by_ranks.known ? by_ranks : shift_of_means(from, to, tail);
}

Shift shift_of_pairs(const std::vector<double>& a, const std::vector<double>& b, double tail) {
  const std::ptrdiff_t cut = cut_off_pairs(a.size(), tail);
  if (cut < 0) return {};
  std::vector<double> averages;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i; j < a.size(); ++j) averages.push_back((b[i] - a[i] + b[j] - a[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  return between_ends(std::move(averages), cut, a);
}

EvenBlocks::EvenBlocks(size_t n, size_t length)
    : length_(length), count_(n == 0 ? 0 : std::max<size_t>(1, n / length)) {}

EvenBlocks::EvenBlocks(size_t n)
    : EvenBlocks(n,
                 std::max({size_t{1}, static_cast<size_t>(std::cbrt(static_cast<double>(n)) + 1e-9),
                           (n + kMostBlocks - 1) / kMostBlocks})) {}

EvenBlocks EvenBlocks::of_few(size_t n) {
  return {n, std::max<size_t>(1, (n + kFewBlocks - 1) / kFewBlocks)};
}

size_t EvenBlocks::of(size_t i) const { return std::min(i / length_, count_ - 1); }

std::vector<double> block_means(const std::vector<double>& values) {
  const std::vector<double> finite = finite_values(values);
  return means_of(finite, EvenBlocks(finite.size()));
}

std::vector<double> few_block_means(const std::vector<double>& values) {
  const std::vector<double> finite = finite_values(values);
  return means_of(finite, EvenBlocks::of_few(finite.size()));
}

}  // namespace assay
