#include "power/energy_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr double kSensorOwn = 0.005;  // relative error of an energy beyond that of the model

// Seconds of each power in a part, base first: by duration, and the minimum and maximum possible.
struct Seconds {
  std::vector<double> by_duration;
  std::vector<double> least;
  std::vector<double> most;
};

// A name with nearly all of the time of its class also has nearly all of its energy, because the
// others draw at most most_w.
void hold_to_most_watts(Seconds& seconds, size_t power, double whole_s, const EnergyModel& model) {
  const Span95& watts = model.fit.powers_95[power];
  const double own_s = seconds.by_duration[power];
  if (watts.low <= 0 || !std::isfinite(model.most_w)) return;
  const double others_s = (whole_s - own_s) * model.most_w / watts.low;
  const double least_s = std::min(own_s, whole_s - others_s);
  seconds.least[power] = std::max(seconds.least[power], least_s);
}

Seconds seconds_of(const EnergyTally& tally, const EnergyModel& model) {
  const std::vector<double> none(model.groups.size() + 1, 0);
  Seconds seconds{none, none, none};
  const double base_s = static_cast<double>(tally.base_ns) * 1e-9;
  seconds.by_duration[0] = seconds.least[0] = seconds.most[0] = base_s;
  std::map<size_t, std::vector<double>> shares;  // by group: of each name's whole time
  for (const auto& [name, ns] : tally.ns) {
    const size_t group = model.group_of.at(name);
    seconds.by_duration[group + 1] += static_cast<double>(ns) * 1e-9;
    const auto whole = static_cast<double>(std::max<int64_t>(model.time_of_ns.at(name), 1));
    shares[group].push_back(static_cast<double>(ns) / whole);
  }
  for (const auto& [group, of_names] : shares) {
    const std::vector<uint32_t>& names = model.groups[group];
    double whole_s = 0;
    size_t ran = 0;
    for (const uint32_t name : names) {
      const auto time = model.time_of_ns.find(name);
      if (time == model.time_of_ns.end()) continue;
      whole_s += static_cast<double>(time->second) * 1e-9;
      ++ran;
    }
    const auto [low, high] = std::minmax_element(of_names.begin(), of_names.end());
    seconds.least[group + 1] = of_names.size() == ran ? *low * whole_s : 0;
    seconds.most[group + 1] = *high * whole_s;
    hold_to_most_watts(seconds, group + 1, whole_s, model);
  }
  return seconds;
}

// For a single power both intervals are the same.
Span95 interval_of(const JointFit& fit, const std::vector<double>& a, bool closely) {
  const auto powers = std::count_if(a.begin(), a.end(), [](double s) { return s != 0; });
  return powers <= 1 || !closely ? fit.outer_interval(a) : fit.interval(a);
}

}  // namespace

EnergyPart part_of(std::string name, const EnergyTally& tally, const EnergyModel& model,
                   bool closely) {
  EnergyPart part;
  part.name = std::move(name);
  const Seconds seconds = seconds_of(tally, model);
  double joules = 0;
  for (size_t i = 0; i < seconds.by_duration.size(); ++i) {
    joules += seconds.by_duration[i] * model.fit.powers_w[i];
  }
  part.energy_uj = std::llround(joules * 1e6);
  const Span95 least = interval_of(model.fit, seconds.least, closely);
  const Span95 most =
      seconds.most == seconds.least ? least : interval_of(model.fit, seconds.most, closely);
  // Every sensor has an error beyond what the samples show.
  const double own_j = kSensorOwn * joules;
  part.low_j = std::max(0.0, joules - std::hypot(std::max(0.0, joules - least.low), own_j));
  for (const auto& [kernel, ns] : tally.ns) part.busy_ns += ns;
  // The device draws at most this energy.
  const double base_j = seconds.most[0] * std::max(0.0, model.fit.powers_95[0].high);
  const double drawn_j = base_j + static_cast<double>(part.busy_ns) * 1e-9 * model.most_w;
  const double most_j = std::max(std::min(most.high, drawn_j), joules);
  part.high_j = joules + std::hypot(most_j - joules, own_j);
  part.count = tally.count;
  return part;
}

}  // namespace assay
