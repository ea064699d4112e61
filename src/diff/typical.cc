#include "diff/typical.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/stats.h"

namespace assay {
namespace {

constexpr double kTail = 0.025;
constexpr double kNormal = 1.959963984540054;  // z at 1 - kTail
constexpr size_t kExactUpTo = 30;

// Ways in which the Mann-Whitney statistic of n and m values is u, for all u: those where the
// largest value is of the first sample, and those where it is of the second.
std::vector<double> ways_of_u(size_t n, size_t m) {
  std::vector<std::vector<double>> row(m + 1, {1.0});  // of 0 values and j
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

// How many of the ordered differences lie outside at each end; below 0: no interval has 95 %.
std::ptrdiff_t cut_off(size_t n, size_t m) {
  if (n > kExactUpTo || m > kExactUpTo) {
    const auto product = static_cast<double>(n) * static_cast<double>(m);
    const double spread = std::sqrt(product * static_cast<double>(n + m + 1) / 12);
    return static_cast<std::ptrdiff_t>(std::floor(product / 2 - kNormal * spread)) - 1;
  }
  const std::vector<double> ways = ways_of_u(n, m);
  double all = 0;
  for (const double one : ways) all += one;
  double below = 0;
  std::ptrdiff_t cut = -1;
  for (const double one : ways) {
    below += one;
    if (below > kTail * all) break;
    ++cut;
  }
  return cut;
}

}  // namespace

TypicalChange typical_change(const std::vector<double>& a, const std::vector<double>& b) {
  TypicalChange typical;
  if (a.empty() || b.empty()) return typical;
  const std::ptrdiff_t cut = cut_off(a.size(), b.size());
  if (cut < 0) return typical;
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double from : a) {
    for (const double to : b) differences.push_back(to - from);
  }
  std::sort(differences.begin(), differences.end());
  typical.known = true;
  typical.low = differences[static_cast<size_t>(cut)];
  typical.high = differences[differences.size() - 1 - static_cast<size_t>(cut)];
  typical.change = median(std::move(differences));
  typical.a = median(a);
  return typical;
}

}  // namespace assay
