#include "power/log_clocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/interval_index.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr int64_t kSettlesNs = 1'000'000'000;  // clocks stay up for a while after work
constexpr int64_t kLoadedNs = 100'000'000;     // before a sample, nearly all of it busy
constexpr double kLoaded = 0.8;
constexpr double kHalfClock = 0.5;
constexpr double kHighState = 2;  // P0 to P2 are states of work
constexpr double kFell = 0.9;
constexpr double kOftenEnough = 0.1;
constexpr size_t kFewest = 10;

int64_t ns_of(double seconds, CoveredSpan span) {
  return span.begin_ns + std::llround(seconds * 1e9);
}

// Median of the values in idle, except the first second after the work.
double median_in_idle(const std::vector<LoggedValue>& values, int64_t moved_ns, CoveredSpan span,
                      const LogIdle& idle) {
  std::vector<double> inside;
  for (const LoggedValue& one : values) {
    const int64_t t_ns = one.t_ns + moved_ns;
    const bool before = idle.before && t_ns < ns_of(idle.before->end_s, span);
    const bool after = idle.after && t_ns > ns_of(idle.after->begin_s, span) + kSettlesNs;
    if (before || after) inside.push_back(one.value);
  }
  return inside.empty() ? LogClocks::kUntold : median(std::move(inside));
}

// Values with a busy GPU in the time kLoadedNs before them.
std::vector<double> under_load(const std::vector<LoggedValue>& values, int64_t moved_ns,
                               const IntervalIndex& busy) {
  std::vector<double> loaded;
  for (const LoggedValue& one : values) {
    const int64_t end_ns = one.t_ns + moved_ns;
    const int64_t worked_ns = busy.length_in({end_ns - kLoadedNs, end_ns});
    if (static_cast<double>(worked_ns) >= kLoaded * static_cast<double>(kLoadedNs)) {
      loaded.push_back(one.value);
    }
  }
  return loaded;
}

double quantile_of(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return quantile_sorted(values, q);
}

// Samples count from the first high one, because a clock that rises with the work has not fallen.
void add_fall(std::vector<double> loaded, LogClocks& found) {
  if (loaded.size() < kFewest) return;
  found.high_mhz = quantile_of(loaded, 0.95);
  const auto first =
      std::find_if(loaded.begin(), loaded.end(), [&](double mhz) { return mhz >= found.high_mhz; });
  loaded.erase(loaded.begin(), first);
  found.samples = loaded.size();
  found.low_mhz = quantile_of(loaded, 0.05);
  const auto below = std::count_if(loaded.begin(), loaded.end(),
                                   [&](double mhz) { return mhz < kFell * found.high_mhz; });
  found.below_share = static_cast<double>(below) / static_cast<double>(loaded.size());
  found.falls = loaded.size() >= kFewest && found.below_share >= kOftenEnough;
}

}  // namespace

LogClocks find_log_clocks(const PowerSeries& series, int64_t moved_ns,
                          const std::vector<Work>& work, CoveredSpan span, const LogIdle& idle) {
  LogClocks found;
  if (series.clock_mhz.empty() && series.state.empty()) return found;
  std::vector<Interval> busy;
  for (const Work& one : work) busy.push_back({one.start_ns, one.end_ns});
  const IntervalIndex merged(merge_intervals(std::move(busy)));
  add_fall(under_load(series.clock_mhz, moved_ns, merged), found);
  found.idle_mhz = median_in_idle(series.clock_mhz, moved_ns, span, idle);
  found.idle_state = median_in_idle(series.state, moved_ns, span, idle);
  const bool clocks_told = std::isfinite(found.idle_mhz) && std::isfinite(found.high_mhz);
  found.idle_clocks_up =
      clocks_told ? found.idle_mhz >= kHalfClock * found.high_mhz : found.idle_state <= kHighState;
  return found;
}

}  // namespace assay
