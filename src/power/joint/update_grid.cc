#include "power/joint/update_grid.h"

#include <algorithm>
#include <cmath>

#include "base/stats.h"

namespace assay {
namespace {

constexpr double kRepeatsMatter = 0.02;
constexpr double kMostViolated = 0.1;
constexpr double kMostByChance = 0.25;  // maximum share of repeats with an update in between
constexpr double kOftenRepeated = 0.5;  // share of polls that is too large for chance
constexpr size_t kFewestNews = 10;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return quantile_sorted(values, 0.5);
}

// A pair of neighbouring polls: no update between them, or one.
struct Pair {
  double from_s = 0;
  double to_s = 0;
  bool same = false;
};

struct GridPhase {
  int64_t violated = INT64_MAX;
  double phase_s = 0;
  size_t pairs = 0;
  size_t alike = 0;  // bins within one contradiction of the best
};

// The phase that contradicts the fewest pairs, over a circle of bins. Every pair adds to the bins
// that it forbids (repeat) or allows (change), by differences. A repeat over a period or more
// contradicts every phase. Ignoring such repeats would favour periods too short to check many
// pairs.
GridPhase best_phase(const std::vector<Pair>& pairs, double period_s, size_t bins) {
  std::vector<int64_t> change(bins + 2, 0);
  GridPhase best;
  int64_t changes = 0;
  int64_t too_long = 0;
  const auto place = [&](double t) {
    const double turns = t / period_s;
    return (turns - std::floor(turns)) * static_cast<double>(bins);
  };
  for (const Pair& pair : pairs) {
    const bool is_long = pair.to_s - pair.from_s >= period_s;
    if (is_long && !pair.same) continue;
    ++best.pairs;
    too_long += is_long ? 1 : 0;
    if (is_long) continue;
    changes += pair.same ? 0 : 1;
    const int64_t sign = pair.same ? 1 : -1;
    const double from = place(pair.from_s);
    const double to = place(pair.to_s);
    change[static_cast<size_t>(std::ceil(from))] += sign;
    change[static_cast<size_t>(std::floor(to)) + 1] -= sign;
    if (to < from) change[0] += sign;
  }
  std::vector<int64_t> cost(bins);
  int64_t sum = changes;
  for (size_t i = 0; i < bins; ++i) cost[i] = sum += change[i];
  best.violated = *std::min_element(cost.begin(), cost.end());
  // The middle of the equally good bins around the first, on a circle.
  const auto first = static_cast<double>(
      std::find_if(cost.begin(), cost.end(), [&](int64_t c) { return c <= best.violated + 1; }) -
      cost.begin());
  const auto round = static_cast<double>(bins);
  double offset = 0;
  size_t near = 0;
  for (size_t i = 0; i < bins; ++i) {
    if (cost[i] > best.violated + 1) continue;
    const double apart = static_cast<double>(i) - first + round / 2;
    const double turned = apart - std::floor(apart / round) * round - round / 2;
    if (std::fabs(turned) >= round / 4) continue;
    offset += turned;
    ++near;
  }
  const double middle = first + offset / static_cast<double>(std::max<size_t>(near, 1));
  best.phase_s = middle / round * period_s;
  best.alike = near;
  best.violated += too_long;
  return best;
}

struct GridPeriod {
  GridPhase phase = {};
  double period_s = 0;
};

// The middle of the tried periods around the best that contradict equally few pairs. Widely spaced
// polls leave a range; its lower end would be 1 % off in logs of 4 s.
GridPeriod middle_of(const std::vector<GridPeriod>& tried) {
  const auto best =
      std::min_element(tried.begin(), tried.end(), [](const GridPeriod& a, const GridPeriod& b) {
        return a.phase.violated != b.phase.violated ? a.phase.violated < b.phase.violated
                                                    : a.phase.alike > b.phase.alike;
      });
  const auto is_alike = [&](const GridPeriod& one) {
    return one.phase.violated <= best->phase.violated;
  };
  auto first = best;
  while (first != tried.begin() && is_alike(*(first - 1))) --first;
  double weighted_s = 0;
  double weights = 0;
  for (auto at = first; at != tried.end() && is_alike(*at); ++at) {
    weighted_s += static_cast<double>(at->phase.alike) * at->period_s;
    weights += static_cast<double>(at->phase.alike);
  }
  const double middle_s = weighted_s / weights;
  return *std::min_element(first, tried.end(), [&](const GridPeriod& a, const GridPeriod& b) {
    return std::fabs(a.period_s - middle_s) < std::fabs(b.period_s - middle_s);
  });
}

GridPeriod search_period(const std::vector<Pair>& pairs, double around_s, bool rare, double span_s) {
  constexpr size_t kCoarse = 40;
  constexpr size_t kFine = 200;
  const double wide = rare ? 0.25 : 0.1;
  const double low = around_s * (1 - wide);
  const double high = around_s * (1 + wide);
  std::vector<GridPeriod> tried;
  const double step = 2 * low * low / kCoarse / span_s;
  for (double p = low; p < high; p += step) tried.push_back({best_phase(pairs, p, kCoarse), p});
  const double near_s = middle_of(tried).period_s;
  const double fine = near_s * near_s / kFine / span_s;
  tried.clear();
  for (int i = -60; i <= 60; ++i) {
    const double p = near_s + fine * i;
    tried.push_back({best_phase(pairs, p, kFine), p});
  }
  return middle_of(tried);
}

// Share of the repeats with an update in between by this grid. Samples in whole watts repeat by
// chance while the power is steady.
double repeated_by_chance(const std::vector<Pair>& pairs, const GridPeriod& found) {
  size_t same = 0;
  size_t updated = 0;
  for (const Pair& pair : pairs) {
    if (!pair.same) continue;
    ++same;
    const auto update_of = [&](double t) {
      return std::floor((t - found.phase.phase_s) / found.period_s);
    };
    updated += update_of(pair.from_s) != update_of(pair.to_s) ? 1 : 0;
  }
  return static_cast<double>(updated) / static_cast<double>(std::max<size_t>(same, 1));
}

std::vector<TimedPower> news_of(const std::vector<TimedPower>& polls) {
  std::vector<TimedPower> news;
  for (const TimedPower& poll : polls) {
    if (news.empty() || poll.power_w != news.back().power_w) news.push_back(poll);
  }
  return news;
}

// Fits a line through the timestamps over their number and puts the updates on it. False if the
// timestamps deviate by 20 % of the period or more (RMS), or two fall on one number.
bool line_of(const std::vector<TimedPower>& polls, double period_s, UpdateGrid& grid) {
  const auto n = static_cast<double>(polls.size());
  std::vector<double> number{0};
  double mean_k = 0;
  double mean_t = polls.front().t_s / n;
  for (size_t i = 1; i < polls.size(); ++i) {
    const double steps = std::round((polls[i].t_s - polls[i - 1].t_s) / period_s);
    if (steps < 1) return false;
    number.push_back(number.back() + steps);
    mean_k += number.back() / n;
    mean_t += polls[i].t_s / n;
  }
  double kk = 0;
  double kt = 0;
  for (size_t i = 0; i < polls.size(); ++i) {
    kk += (number[i] - mean_k) * (number[i] - mean_k);
    kt += (number[i] - mean_k) * (polls[i].t_s - mean_t);
  }
  grid.period_s = kt / kk;
  double off = 0;
  for (size_t i = 0; i < polls.size(); ++i) {
    const double made = mean_t + grid.period_s * (number[i] - mean_k);
    off += (polls[i].t_s - made) * (polls[i].t_s - made);
    grid.updates.push_back({made, polls[i].power_w});
  }
  return std::sqrt(off / n) < 0.2 * grid.period_s;
}

// Every poll is an update, at its time on the line through their times if they fit one, else at its
// timestamp.
UpdateGrid every_poll(const std::vector<TimedPower>& polls, const UpdateGrid& stamped) {
  UpdateGrid regular = stamped;
  regular.updates.clear();
  if (!line_of(polls, stamped.period_s, regular)) return stamped;
  regular.source = GridSource::kStamps;
  return regular;
}

}  // namespace

const char* grid_source_name(GridSource source) {
  switch (source) {
    case GridSource::kRepeats:
      return "repeats";
    case GridSource::kStamps:
      return "stamps";
    case GridSource::kFirstSight:
      return "first_sight";
    case GridSource::kAsStamped:
      break;
  }
  return "as_stamped";
}

std::vector<TimedPower> updates_on(const std::vector<TimedPower>& polls, double period_s,
                                   double phase_s) {
  std::vector<TimedPower> updates;
  double nearest = 0;
  for (const TimedPower& poll : polls) {
    const double made = phase_s + period_s * std::floor((poll.t_s - phase_s) / period_s);
    const double from_middle = std::fabs(poll.t_s - made - period_s / 2);
    const bool another = updates.empty() || made - updates.back().t_s > 0.5 * period_s;
    if (another) updates.push_back({made, poll.power_w});
    if (!another && from_middle >= nearest) continue;
    updates.back().power_w = poll.power_w;
    nearest = from_middle;
  }
  return updates;
}

UpdateGrid find_updates(const std::vector<TimedPower>& polls) {
  UpdateGrid grid;
  std::vector<double> gaps;
  std::vector<Pair> pairs;
  size_t same = 0;
  for (size_t i = 1; i < polls.size(); ++i) {
    const bool repeats = polls[i].power_w == polls[i - 1].power_w;
    pairs.push_back({polls[i - 1].t_s, polls[i].t_s, repeats});
    gaps.push_back(polls[i].t_s - polls[i - 1].t_s);
    same += repeats ? 1 : 0;
  }
  const double poll_s = median_of(gaps);
  const std::vector<TimedPower> news = news_of(polls);
  grid.repeats = static_cast<double>(same) / static_cast<double>(polls.size());
  grid.period_s = poll_s;
  grid.updates = polls;
  if (news.size() < kFewestNews || poll_s <= 0) return grid;
  std::vector<double> between;
  for (size_t i = 1; i < news.size(); ++i) between.push_back(news[i].t_s - news[i - 1].t_s);
  const double news_s = median_of(between);
  const double span_s = polls.back().t_s - polls.front().t_s;
  if (grid.repeats > kRepeatsMatter) {
    const GridPeriod found = search_period(pairs, news_s, poll_s > 0.5 * news_s, span_s);
    const auto checked = static_cast<double>(std::max<size_t>(found.phase.pairs, 1));
    grid.violated = static_cast<double>(found.phase.violated) / checked;
    const bool by_chance = repeated_by_chance(pairs, found) > kMostByChance;
    if (found.phase.pairs > 0 && grid.violated <= kMostViolated && !by_chance) {
      grid.updates = updates_on(polls, found.period_s, found.phase.phase_s);
      grid.period_s = found.period_s;
      grid.source = GridSource::kRepeats;
      return grid;
    }
    if (!by_chance || grid.repeats > kOftenRepeated) {
      grid.updates = news;
      for (TimedPower& update : grid.updates) update.t_s -= 0.5 * poll_s;
      grid.period_s = news_s;
      grid.source = GridSource::kFirstSight;
      return grid;
    }
  }
  return every_poll(polls, grid);
}

UpdateGrid every_poll_new(const std::vector<TimedPower>& polls) {
  UpdateGrid grid;
  std::vector<double> gaps;
  for (size_t i = 1; i < polls.size(); ++i) gaps.push_back(polls[i].t_s - polls[i - 1].t_s);
  grid.period_s = median_of(gaps);
  grid.updates = polls;
  return grid.period_s > 0 ? every_poll(polls, grid) : grid;
}

}  // namespace assay
