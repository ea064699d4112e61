#include "job/tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/stats.h"

namespace assay {
namespace {

double upper_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

std::vector<size_t> sorted_places(const std::vector<double>& values) {
  std::vector<size_t> places(values.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&values](size_t a, size_t b) { return values[a] < values[b]; });
  return places;
}

}  // namespace

std::vector<double> adjusted_p(const std::vector<double>& p) {
  const std::vector<size_t> places = sorted_places(p);
  std::vector<double> adjusted(p.size(), 1);
  double least = 1;
  for (size_t k = places.size(); k-- > 0;) {
    const double share = p[places[k]] * static_cast<double>(p.size()) / static_cast<double>(k + 1);
    least = std::min(least, share);
    adjusted[places[k]] = least;
  }
  return adjusted;
}

std::vector<double> upper_p(const std::vector<double>& values) {
  constexpr double kLeastScale = 1e-12;
  const double centre = median(values);
  const double scale = std::max(1.4826 * median_abs_deviation(values), kLeastScale);
  std::vector<double> p;
  p.reserve(values.size());
  for (const double value : values) p.push_back(upper_tail((value - centre) / scale));
  return p;
}

double rank_sum_p(double order_sum, uint64_t members, uint64_t n) {
  if (members == 0 || members >= n) return 1;
  const auto own = static_cast<double>(members);
  const auto all = static_cast<double>(n);
  const double mean = own * (all + 1) / 2;
  const double deviation = std::sqrt(own * (all - own) * (all + 1) / 12);
  return upper_tail((order_sum - mean) / deviation);
}

std::vector<double> order_of(const std::vector<double>& values) {
  const std::vector<size_t> places = sorted_places(values);
  std::vector<double> order(values.size());
  for (size_t begin = 0; begin < places.size();) {
    size_t end = begin;
    while (end < places.size() && values[places[end]] == values[places[begin]]) ++end;
    for (size_t k = begin; k < end; ++k) {
      order[places[k]] = (static_cast<double>(begin) + static_cast<double>(end) + 1) / 2;
    }
    begin = end;
  }
  return order;
}

}  // namespace assay
