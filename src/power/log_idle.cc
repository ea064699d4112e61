#include "power/log_idle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/stats.h"

namespace assay {
namespace {

constexpr size_t kFewestLevel = 3;     // updates
constexpr double kLevelWithin = 0.05;  // share of the level, and at least:
constexpr double kLevelWithinW = 2;
constexpr double kLowerThanWork = 0.75;
constexpr double kSettledS = 1.5;   // after the work: the longest window and its tail
constexpr double kOneLevel = 0.01;  // levels of both sides within this are equal

double tolerance_w(double level_w) { return std::max(kLevelWithinW, kLevelWithin * level_w); }

// Count of the level updates at one end of the log, and their mean.
struct Level {
  size_t count = 0;
  double mean_w = 0;
};

template <typename Iterator>
Level level_from(Iterator first, Iterator end) {
  Level level;
  double sum = 0;
  for (; first != end; ++first) {
    const double off = std::fabs(first->power_w - level.mean_w);
    if (level.count > 0 && off > tolerance_w(level.mean_w)) break;
    sum += first->power_w;
    level.mean_w = sum / static_cast<double>(++level.count);
  }
  return level;
}

// True if the samples stay for a while above their final level after the work: the GPU then holds a
// higher state. A sensor's window, ramp or kept part does not stop midway.
template <typename Iterator>
bool lingers(Iterator first, Iterator end, double level_w, double most_w) {
  constexpr double kStaysS = 0.5;
  constexpr double kStaysWithin = 0.02;
  for (Iterator from = first; from != end; ++from) {
    if (from->power_w <= level_w || from->power_w >= most_w) continue;
    for (Iterator to = from; to != end; ++to) {
      if (std::fabs(to->power_w - from->power_w) > kStaysWithin * from->power_w) break;
      if (to->t_s - from->t_s >= kStaysS) return true;
    }
  }
  return false;
}

// Levels during the work: 5th percentile, and 75th because a slow sensor takes time to rise.
struct Shown {
  double lower_w = 0;
  double upper_w = 0;
};

Shown shown_by_work(const std::vector<TimedPower>& updates, WorkSpan work) {
  std::vector<double> watts;
  for (const TimedPower& update : updates) {
    if (update.t_s >= work.begin_s && update.t_s <= work.end_s + kSettledS / 2) {
      watts.push_back(update.power_w);
    }
  }
  if (watts.empty()) return {};
  std::sort(watts.begin(), watts.end());
  return {quantile_sorted(watts, 0.05), quantile_sorted(watts, 0.75)};
}

// Utilisation in a stretch at least a second from the work, because it is a mean over a second.
enum class Use : uint8_t { kUnknown, kNone, kSome };

Use use_between(const std::vector<TimedUse>& use, double from_s, double to_s) {
  constexpr double kNone = 2;
  constexpr double kSome = 5;
  std::vector<double> percent;
  for (const TimedUse& one : use) {
    if (one.t_s >= from_s && one.t_s <= to_s) percent.push_back(one.percent);
  }
  if (percent.empty()) return Use::kUnknown;
  const double typical = median(std::move(percent));
  return typical <= kNone ? Use::kNone : typical > kSome ? Use::kSome : Use::kUnknown;
}

}  // namespace

std::vector<double> LogIdle::levels() const {
  if (!before || !after) return {};
  const double apart = std::fabs(before->level_w - after->level_w);
  if (apart <= kOneLevel * std::max(before->level_w, after->level_w)) return {};
  return {before->level_w, after->level_w};
}

LogIdle find_log_idle(const std::vector<TimedPower>& updates, WorkSpan work,
                      const ResponsePrior& prior, double period_s,
                      const std::vector<TimedUse>& use) {
  constexpr double kUseLateS = 1;
  LogIdle idle;
  if (updates.empty()) return idle;
  const Shown shown = shown_by_work(updates, work);
  const Level before = level_from(updates.begin(), updates.end());
  const Level after = level_from(updates.rbegin(), updates.rend());
  const auto is_idle = [&](const Level& level, Use used) {
    const double most_w = used == Use::kNone ? shown.upper_w - tolerance_w(shown.upper_w)
                                             : kLowerThanWork * shown.upper_w;
    return used != Use::kSome && level.count >= kFewestLevel && level.count < updates.size() &&
           level.mean_w <= most_w && level.mean_w - tolerance_w(level.mean_w) <= shown.lower_w;
  };
  if (is_idle(before, use_between(use, updates.front().t_s, work.begin_s - kUseLateS))) {
    const double until_s = updates[before.count - 1].t_s + 2 * period_s;
    if (until_s >= work.begin_s + std::min(0.0, prior.lag_s.low)) {
      idle.before = {updates.front().t_s, work.begin_s, before.mean_w};
    }
  }
  if (is_idle(after, use_between(use, work.end_s + kUseLateS, updates.back().t_s))) {
    const auto level = updates.end() - static_cast<std::ptrdiff_t>(after.count);
    const auto worked =
        std::lower_bound(updates.begin(), level, work.end_s,
                         [](const TimedPower& update, double t_s) { return update.t_s < t_s; });
    const double least_w = after.mean_w + tolerance_w(after.mean_w);
    const double half_w = (after.mean_w + shown.upper_w) / 2;
    const double latest_s = work.end_s + std::max(0.0, prior.lag_s.high) + kSettledS + 2 * period_s;
    if (level->t_s <= latest_s && !lingers(worked, level, least_w, half_w)) {
      idle.after = {work.end_s, updates.back().t_s, after.mean_w};
    }
  }
  return idle;
}

}  // namespace assay
