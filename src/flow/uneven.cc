#include "flow/uneven.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/stats.h"

namespace assay {
namespace {

constexpr double kLeastOfAll = 0.05;  // share of the time of all iterations
using Durations = std::vector<int64_t>;

int64_t median_of(const Durations& steps, size_t first, size_t last) {
  return median_ns(Durations(steps.begin() + static_cast<std::ptrdiff_t>(first),
                             steps.begin() + static_cast<std::ptrdiff_t>(last)));
}

// The split with the most significant difference of means (CUSUM). Values are clamped to between
// half and twice the median. 0 if there is none.
size_t best_split(const Durations& steps) {
  const auto middle = static_cast<double>(median_ns(steps));
  std::vector<double> kept;
  for (const int64_t ns : steps) {
    kept.push_back(std::clamp(static_cast<double>(ns), middle / 2, middle * 2));
  }
  const double mean =
      std::accumulate(kept.begin(), kept.end(), 0.0) / static_cast<double>(kept.size());
  const auto n = static_cast<double>(kept.size());
  double sum = 0;
  double most = 0;
  size_t best = 0;
  for (size_t k = 1; k < kept.size(); ++k) {
    sum += kept[k - 1] - mean;
    const double weight = static_cast<double>(k) * (n - static_cast<double>(k));
    const double apart = std::abs(sum) / std::sqrt(weight);
    if (apart <= most) continue;
    most = apart;
    best = k;
  }
  return best;
}

// True if nearly all steps of [first, last) are on their side of the midpoint between two medians.
bool on_their_side(const Durations& steps, size_t first, size_t last, int64_t own, int64_t other) {
  constexpr double kNearlyAll = 0.9;
  const int64_t between = own + (other - own) / 2;
  size_t fitting = 0;
  for (size_t i = first; i < last; ++i) {
    fitting += own < other ? steps[i] < between : steps[i] > between;
  }
  return static_cast<double>(fitting) >= kNearlyAll * static_cast<double>(last - first);
}

// A change that continues after the split: the last third after it is farther from the time before
// than the first third, and nearly each step is farther than the one three before it.
std::optional<UnevenSteps> drift_in(const Durations& steps, size_t split) {
  constexpr double kGoesOn = 0.4;  // share of the whole change
  constexpr double kNearlyAll = 0.8;
  constexpr double kBegun = 1.05;
  constexpr size_t kBack = 3;
  const size_t third = (steps.size() - split) / 3;
  const auto before = static_cast<double>(median_of(steps, 0, split / 2 + 1));
  const auto early = static_cast<double>(median_of(steps, split, split + third));
  const auto late = static_cast<double>(median_of(steps, steps.size() - third, steps.size()));
  const bool slower = late > before;
  if ((slower ? late - early : early - late) < kGoesOn * std::abs(late - before)) {
    return std::nullopt;
  }
  const auto farther = [slower](int64_t a, int64_t b) { return slower ? a > b : a < b; };
  size_t fitting = 0;
  for (size_t i = split; i < steps.size(); ++i) fitting += farther(steps[i], steps[i - kBack]);
  if (static_cast<double>(fitting) < kNearlyAll * static_cast<double>(steps.size() - split)) {
    return std::nullopt;
  }
  size_t first = split;
  const double begun = slower ? before * kBegun : before / kBegun;
  while (first > 0 && farther(steps[first - 1], static_cast<int64_t>(begun))) --first;
  UnevenSteps drift{.from_one_on = true,
                    .drift = true,
                    .first = first,
                    .count = steps.size() - first,
                    .times = late / before};
  for (size_t i = first; i < steps.size(); ++i) {
    drift.excess_ns += steps[i] - static_cast<int64_t>(before);
  }
  return drift;
}

std::optional<UnevenSteps> change_in(const Durations& steps, int64_t sum_ns) {
  constexpr size_t kLeastSide = 5;
  constexpr double kLeastTimes = 1.1;
  if (steps.size() < 2 * kLeastSide) return std::nullopt;
  const size_t split = best_split(steps);
  if (split < kLeastSide || steps.size() - split < kLeastSide) return std::nullopt;
  const int64_t before = median_of(steps, 0, split);
  const int64_t after = median_of(steps, split, steps.size());
  if (before <= 0 || after <= 0) return std::nullopt;
  const double times = static_cast<double>(after) / static_cast<double>(before);
  if (std::max(times, 1 / times) < kLeastTimes) return std::nullopt;
  if (!on_their_side(steps, 0, split, before, after)) return std::nullopt;
  if (!on_their_side(steps, split, steps.size(), after, before)) return std::nullopt;
  const size_t count = steps.size() - split;
  const int64_t excess_ns = (after - before) * static_cast<int64_t>(count);
  if (static_cast<double>(std::abs(excess_ns)) < kLeastOfAll * static_cast<double>(sum_ns)) {
    return std::nullopt;
  }
  if (const auto drift = drift_in(steps, split)) return drift;
  return UnevenSteps{
      .from_one_on = true, .first = split, .count = count, .times = times, .excess_ns = excess_ns};
}

// One contiguous range of three or more that all take longer (or shorter) than the others, e.g.
// because a clock was lowered for a while.
std::optional<UnevenSteps> stretch_in(const Durations& steps, int64_t sum_ns) {
  constexpr size_t kLeastSteps = 10;
  constexpr size_t kLeastStretch = 3;
  constexpr double kLeastTimes = 1.1;
  if (steps.size() < kLeastSteps) return std::nullopt;
  const int64_t middle = median_ns(steps);
  const auto apart = [&](size_t i) {
    const double times =
        static_cast<double>(steps[i]) / static_cast<double>(std::max<int64_t>(middle, 1));
    return times >= kLeastTimes ? 1 : times * kLeastTimes <= 1 ? -1 : 0;
  };
  size_t first = 0;
  size_t count = 0;
  for (size_t i = 0; i < steps.size();) {
    size_t end = i + 1;
    while (end < steps.size() && apart(end) == apart(i)) ++end;
    if (apart(i) != 0 && end - i > count) {
      first = i;
      count = end - i;
    }
    i = end;
  }
  if (count < kLeastStretch || count * 2 > steps.size()) return std::nullopt;
  Durations others(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(first));
  others.insert(others.end(), steps.begin() + static_cast<std::ptrdiff_t>(first + count),
                steps.end());
  const int64_t usual = median_ns(others);
  const int64_t own = median_of(steps, first, first + count);
  if (usual <= 0 || !on_their_side(others, 0, others.size(), usual, own)) return std::nullopt;
  const int64_t excess_ns = (own - usual) * static_cast<int64_t>(count);
  if (static_cast<double>(std::abs(excess_ns)) < kLeastOfAll * static_cast<double>(sum_ns)) {
    return std::nullopt;
  }
  return UnevenSteps{.stretch = true,
                     .first = first,
                     .count = count,
                     .times = static_cast<double>(own) / static_cast<double>(usual),
                     .excess_ns = excess_ns};
}

std::optional<UnevenSteps> few_in(const Durations& steps, int64_t sum_ns) {
  constexpr size_t kLeastSteps = 5;
  constexpr double kLeastTimes = 1.5;
  constexpr size_t kFewOf = 5;  // at most 1/5 of the iterations
  if (steps.size() < kLeastSteps) return std::nullopt;
  const int64_t middle = median_ns(steps);
  if (middle <= 0) return std::nullopt;
  UnevenSteps found;
  int64_t longest_ns = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (static_cast<double>(steps[i]) < kLeastTimes * static_cast<double>(middle)) continue;
    if (found.count++ == 0) found.first = i;
    longest_ns = std::max(longest_ns, steps[i]);
    found.excess_ns += steps[i] - middle;
  }
  if (found.count == 0 || found.count * kFewOf > steps.size()) return std::nullopt;
  if (static_cast<double>(found.excess_ns) < kLeastOfAll * static_cast<double>(sum_ns)) {
    return std::nullopt;
  }
  found.times = static_cast<double>(longest_ns) / static_cast<double>(middle);
  return found;
}

}  // namespace

std::optional<UnevenSteps> uneven_steps(const std::vector<int64_t>& step_ns) {
  const int64_t sum_ns = std::accumulate(step_ns.begin(), step_ns.end(), int64_t{0});
  if (sum_ns <= 0) return std::nullopt;
  if (const auto change = change_in(step_ns, sum_ns)) return change;
  const auto few = few_in(step_ns, sum_ns);
  return few ? few : stretch_in(step_ns, sum_ns);
}

}  // namespace assay
