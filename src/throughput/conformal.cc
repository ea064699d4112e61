#include "throughput/conformal.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// Weight of all rows together, as a number of errors, against those of one pair.
constexpr double kPoolWeight = 20;

// The smallest value that at least 90 % of new errors stay below, if these follow the mixture of
// the pair's own errors and kPoolWeight errors of all rows.
double scale_of_pair(const std::vector<double>& own, const std::vector<double>& all) {
  const double wanted = kHeldShare * (static_cast<double>(own.size()) + kPoolWeight + 1);
  const double weight = kPoolWeight / static_cast<double>(all.size());
  size_t below = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    while (below < own.size() && own[below] <= all[i]) ++below;
    if (static_cast<double>(below) + weight * static_cast<double>(i + 1) >= wanted)
      return std::max(all[i], kLeastScale);
  }
  return std::max(all.back(), kLeastScale);
}

}  // namespace

double ConformalScale::at(const std::string& pair) const {
  const auto found = of_pair.find(pair);
  return found == of_pair.end() ? scale : found->second;
}

ConformalScale conformal_scale(const std::vector<Miss>& misses) {
  const size_t n = misses.size();
  const auto rank = static_cast<size_t>(std::ceil(static_cast<double>(n + 1) * kHeldShare));
  ConformalScale out;
  out.residuals = n;
  if (rank > n) {
    for (const Miss& miss : misses) out.scale = std::max(out.scale, miss.sds);
    return out;
  }
  std::vector<double> all;
  std::map<std::string, std::vector<double>> by_pair;
  for (const Miss& miss : misses) {
    all.push_back(miss.sds);
    by_pair[miss.pair].push_back(miss.sds);
  }
  std::sort(all.begin(), all.end());
  out.scale = std::max(all[rank - 1], kLeastScale);
  out.measured = true;
  if (by_pair.size() < 2) return out;
  for (auto& [pair, own] : by_pair) {
    std::sort(own.begin(), own.end());
    out.of_pair[pair] = scale_of_pair(own, all);
  }
  return out;
}

}  // namespace assay
