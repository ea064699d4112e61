#include "power/joint/classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

constexpr double kOneAbove = 0.95;
constexpr double kShareStepS = 5e-4;
constexpr size_t kMostRows = 4000;  // evenly spread samples suffice for a long log

// Share of one class in the windows of the updates.
std::vector<double> shares_of(const std::vector<BusySpan>& spans,
                              const std::vector<TimedPower>& updates, double lag_s,
                              double window_s) {
  const size_t stride = updates.size() / kMostRows + 1;
  const double begin_s = updates.front().t_s - lag_s - window_s;
  const double end_s = updates.back().t_s - lag_s;
  std::vector<BusySpan> inside;
  for (const BusySpan& span : spans) {
    if (span.end_s <= begin_s || span.start_s >= end_s) continue;
    inside.push_back({std::max(span.start_s, begin_s), std::min(span.end_s, end_s)});
  }
  // One class at a time, because the grid of a long log with all of them would not fit in memory.
  Activity activity({inside}, begin_s, end_s, kShareStepS);
  const Activity::Ramped plain = activity.ramped(0);
  std::vector<double> shares;
  for (size_t i = 0; i < updates.size(); i += stride) {
    plain.means(updates[i].t_s - lag_s, window_s, &shares.emplace_back());
  }
  return shares;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<std::vector<size_t>> group_alike(const std::vector<std::vector<BusySpan>>& columns,
                                             const std::vector<TimedPower>& updates,
                                             double window_s) {
  std::vector<std::vector<double>> shares;  // about their mean
  for (const std::vector<BusySpan>& spans : columns) {
    shares.push_back(shares_of(spans, updates, 0, window_s));
    const double mean = mean_of(shares.back());
    for (double& share : shares.back()) share -= mean;
  }
  const auto product = [&](size_t a, size_t b) {
    return std::inner_product(shares[a].begin(), shares[a].end(), shares[b].begin(), 0.0);
  };
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<size_t> joined{i};
    const auto is_alike = [&](size_t k) {
      const double together = product(i, k);
      return together > 0 && together > kOneAbove * std::sqrt(product(i, i) * product(k, k));
    };
    std::erase_if(groups, [&](const std::vector<size_t>& group) {
      if (std::none_of(group.begin(), group.end(), is_alike)) return false;
      joined.insert(joined.end(), group.begin(), group.end());
      return true;
    });
    std::sort(joined.begin(), joined.end());
    groups.push_back(std::move(joined));
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::vector<double> mean_shares(const std::vector<std::vector<BusySpan>>& columns,
                                const std::vector<TimedPower>& updates, double lag_s,
                                double window_s) {
  std::vector<double> means;
  for (const std::vector<BusySpan>& spans : columns) {
    means.push_back(mean_of(shares_of(spans, updates, lag_s, window_s)));
  }
  return means;
}

}  // namespace assay
