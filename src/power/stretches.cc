#include "power/stretches.h"

#include <algorithm>
#include <cmath>

#include "power/fit.h"

namespace assay {
namespace {

constexpr uint64_t kFewestToMove = 3;  // samples of an interval needed to correct its power
constexpr size_t kMostProfiled = 40;   // intervals with profiled sums, which is slow

// Time by name inside the merged intervals; `work` in order of start.
EnergyTally tally_of(const std::vector<Interval>& merged, const std::vector<Work>& work) {
  EnergyTally tally;
  tally.base_ns = length_ns(merged);
  size_t first = 0;
  for (const Work& w : work) {
    while (first < merged.size() && merged[first].end_ns <= w.start_ns) ++first;
    if (first == merged.size()) break;
    int64_t inside = 0;
    for (size_t i = first; i < merged.size() && merged[i].start_ns < w.end_ns; ++i) {
      inside += std::max<int64_t>(
          0, std::min(w.end_ns, merged[i].end_ns) - std::max(w.start_ns, merged[i].start_ns));
    }
    if (inside <= 0) continue;
    tally.ns[w.name.value] += inside;
    ++tally.count;
  }
  return tally;
}

// The model with times of all activities, covered by samples or not, because an interval may begin
// before the log.
EnergyModel over_all(const EnergyModel& model, const std::vector<Work>& work) {
  EnergyModel all = model;
  all.time_of_ns.clear();
  for (const Work& w : work) all.time_of_ns[w.name.value] += w.end_ns - w.start_ns;
  return all;
}

// Share of its names' time that is in this interval, weighted by energy: its weight in the fitted
// powers. These are means over the whole trace, from which a short interval may differ.
double share_of_fit(const EnergyTally& tally, const EnergyModel& model) {
  double joules = 0;
  double shared = 0;
  for (const auto& [name, ns] : tally.ns) {
    const auto time = static_cast<double>(ns);
    const double drawn = time * model.fit.powers_w[model.group_of.at(name) + 1];
    joules += drawn;
    shared += drawn * time / static_cast<double>(std::max<int64_t>(model.time_of_ns.at(name), 1));
  }
  return joules > 0 ? std::min(1.0, shared / joules) : 0;
}

// Samples with their window inside, and their mean difference from the model.
struct Beyond {
  uint64_t readings = 0;
  double mean_w = 0;
};

Beyond beyond_model(const std::vector<Interval>& merged, const Laid& laid, CoveredSpan span) {
  const JointFit& fit = laid.model.fit;
  const double ramps_s = ramp_list_s()[fit.response.ramp] + ramp_list_s()[fit.response.second];
  Beyond beyond;
  size_t at = 0;
  for (size_t i = 0; i < laid.problem.updates.size(); ++i) {
    const double end_s = laid.problem.updates[i].t_s - fit.response.lag_s;
    const int64_t end = span.begin_ns + std::llround(end_s * 1e9);
    const int64_t begin = end - std::llround((fit.response.window_s + 2 * ramps_s) * 1e9);
    while (at < merged.size() && merged[at].end_ns < end) ++at;
    if (at == merged.size()) break;
    if (begin < merged[at].start_ns) continue;
    ++beyond.readings;
    beyond.mean_w += laid.problem.updates[i].power_w - fit.modelled_w[i];
  }
  if (beyond.readings > 0) beyond.mean_w /= static_cast<double>(beyond.readings);
  return beyond;
}

// Half-width in watts of the difference from the model: the scatter of the samples around it over
// the root of their number, or of the number of windows in its time.
double scatter_w(const Laid& laid, const Beyond& beyond, bool moved, double time_s) {
  const JointFit& fit = laid.model.fit;
  const double repeated = std::max(1.0, fit.repeated);
  const double window_s = std::max(fit.response.window_s, laid.grid.period_s);
  const double readings =
      moved ? static_cast<double>(beyond.readings) / repeated : time_s / window_s;
  return kNormal95 * fit.noise_w / std::sqrt(std::max(readings, 1e-6));
}

StretchPower power_of(const std::vector<Interval>& merged, const std::vector<Work>& work,
                      const Laid& laid, const EnergyModel& model, CoveredSpan span, bool closely) {
  StretchPower result;
  const EnergyTally tally = tally_of(merged, work);
  for (const auto& [name, ns] : tally.ns) result.busy_ns += ns;
  result.count = tally.count;
  const double time_s = static_cast<double>(tally.base_ns) * 1e-9;
  const EnergyPart part = part_of({}, tally, model, closely);
  const double modelled_w = static_cast<double>(part.energy_uj) * 1e-6 / time_s;
  const Beyond beyond = beyond_model(merged, laid, span);
  result.readings = beyond.readings;
  const double others = 1 - share_of_fit(tally, model);
  const bool moved = beyond.readings >= kFewestToMove;
  const double own_w = std::sqrt(others) * scatter_w(laid, beyond, moved, time_s);
  result.mean_w = std::max(0.0, modelled_w + (moved ? others * beyond.mean_w : 0));
  result.low_w = std::max(0.0, result.mean_w - std::hypot(modelled_w - part.low_j / time_s, own_w));
  result.high_w = result.mean_w + std::hypot(part.high_j / time_s - modelled_w, own_w);
  return result;
}

}  // namespace

std::vector<StretchPower> stretch_powers(const std::vector<std::vector<Interval>>& stretches,
                                         std::vector<Work> work, const Coverage& covered,
                                         const Laid& laid, CoveredSpan span) {
  std::stable_sort(work.begin(), work.end(),
                   [](const Work& a, const Work& b) { return a.start_ns < b.start_ns; });
  const bool closely = stretches.size() <= kMostProfiled || laid.model.fit.is_quick();
  const EnergyModel model = over_all(laid.model, work);
  std::vector<StretchPower> powers;
  for (const std::vector<Interval>& merged : stretches) {
    int64_t covered_ns = 0;
    for (const Interval& one : merged) covered_ns += covered.inside(one.start_ns, one.end_ns);
    powers.push_back(covered_ns > 0 ? power_of(merged, work, laid, model, span, closely)
                                    : StretchPower{});
    powers.back().covered_ns = covered_ns;
  }
  return powers;
}

}  // namespace assay
