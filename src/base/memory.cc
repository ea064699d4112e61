#include "base/memory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace assay {
namespace {

constexpr double kMostAlike = 0.95;
constexpr double kOfHalves = 1.5;

double mean_of(const std::vector<double>& values, size_t from, size_t to) {
  double sum = 0;
  for (size_t i = from; i < to; ++i) sum += values[i];
  return sum / static_cast<double>(to - from);
}

// Upper bound of the neighbour correlation, given the observed one.
double most_alike(double seen, size_t n) {
  const auto count = static_cast<double>(n);
  const double unbiased = seen + (1 + 3 * seen) / count;
  // Limit the variance from below: near 1, the estimated spread is unreliable.
  const double spread = std::sqrt(std::max(0.05, 1 - unbiased * unbiased) / count);
  return std::clamp(unbiased + student_t95_one_sided(n - 1) * spread, 0.0, kMostAlike);
}

// Variance of the mean divided by its estimate under independence.
double variance_ratio(double alike, size_t n) {
  const auto count = static_cast<double>(n);
  double sum = 1;
  double power = 1;
  for (size_t k = 1; k < n; ++k) {
    power *= alike;
    sum += 2 * (1 - static_cast<double>(k) / count) * power;
  }
  return sum / (1 - (sum - 1) / (count - 1));
}

std::vector<double> shared_ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return values[x] < values[y]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    const double shared = static_cast<double>(i + end - 1) / 2;
    for (; i < end; ++i) ranks[order[i]] = shared;
  }
  return ranks;
}

}  // namespace

double memory_widening(const std::vector<double>& in_order) {
  const size_t n = in_order.size();
  if (n < 2) return 1;
  const double mean = mean_of(in_order, 0, n);
  double squares = 0;
  double neighbours = 0;
  for (size_t i = 0; i < n; ++i) {
    const double off = in_order[i] - mean;
    squares += off * off;
    if (i > 0) neighbours += off * (in_order[i - 1] - mean);
  }
  if (!(squares > 0)) return 1;
  const double by_neighbours = std::sqrt(variance_ratio(most_alike(neighbours / squares, n), n));
  const auto count = static_cast<double>(n);
  const double half = student_t95(n - 1) * std::sqrt(squares / (count - 1) / count);
  const double halves = std::abs(mean_of(in_order, 0, n / 2) - mean_of(in_order, n / 2, n));
  return std::max({1.0, by_neighbours, kOfHalves * halves / half});
}

double rank_memory_widening(const std::vector<double>& in_order) {
  return memory_widening(shared_ranks(in_order));
}

MeanInterval mean_interval_in_order(const std::vector<double>& in_order, double tail) {
  MeanInterval interval = mean_interval95(in_order);
  if (interval.n < 2) return interval;
  const size_t df = interval.n - 1;
  const double wider = memory_widening(in_order) * student_t_above(df, tail) / student_t95(df);
  const double half = wider * (interval.high - interval.mean);
  interval.low = interval.mean - half;
  interval.high = interval.mean + half;
  return interval;
}

}  // namespace assay
