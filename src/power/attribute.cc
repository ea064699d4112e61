#include "power/attribute.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "power/coverage.h"
#include "power/energy_parts.h"
#include "power/energy_trust.h"
#include "power/laying.h"
#include "power/log_clocks.h"
#include "power/log_edges.h"
#include "power/stretches.h"
#include "power/total_only.h"

namespace assay {
namespace {

constexpr size_t kCloselyAtMost = 40;  // largest table with (slow) profile intervals
constexpr double kModesApartNs = 15e6;
constexpr double kAliasedAtLeast = 0.005;  // share of the total

using Tallies = std::map<uint32_t, EnergyTally>;

// Covered time inside `span`, by key and kernel name.
template <typename Key>
Tallies tally_by(const std::vector<Work>& work, const Coverage& covered, CoveredSpan span,
                 Key&& key) {
  Tallies tallies;
  for (const Work& w : work) {
    const int64_t inside =
        covered.inside(std::max(w.start_ns, span.begin_ns), std::min(w.end_ns, span.end_ns));
    if (inside <= 0) continue;
    EnergyTally& tally = tallies[key(w)];
    tally.ns[w.name.value] += inside;
    ++tally.count;
  }
  return tallies;
}

void sort_parts(std::vector<EnergyPart>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const EnergyPart& a, const EnergyPart& b) {
    return a.energy_uj != b.energy_uj ? a.energy_uj > b.energy_uj : a.name < b.name;
  });
}

// Adds the rounding difference to the first (largest) part, so that every grouping of the same work
// sums to total_uj.
void settle_rounding(std::vector<EnergyPart>& parts, int64_t total_uj) {
  if (parts.empty()) return;
  int64_t sum = 0;
  for (const EnergyPart& part : parts) sum += part.energy_uj;
  parts.front().energy_uj += total_uj - sum;
}

// Parts of one grouping of the kernels' energy, largest first. They sum exactly to kernels_uj.
template <typename Name>
std::vector<EnergyPart> parts_of(const Tallies& tallies, const EnergyModel& model,
                                 int64_t kernels_uj, Name&& name) {
  const bool closely = tallies.size() <= kCloselyAtMost || model.fit.is_quick();
  std::vector<EnergyPart> parts;
  for (const auto& [key, tally] : tallies) {
    parts.push_back(part_of(name(key), tally, model, closely));
  }
  sort_parts(parts);
  settle_rounding(parts, kernels_uj);
  return parts;
}

// ---- iterations and phases ----

struct NamedStretches {
  std::vector<std::string> names;
  std::vector<std::vector<Interval>> merged;
};

NamedStretches iteration_stretches(const Windows& windows, Interval logged) {
  NamedStretches all;
  if (windows.source == WindowSource::kWholeTrace) return all;
  for (const Window& window : windows.windows) {
    all.names.push_back(window.name);
    all.merged.push_back(clip({{window.start_ns, window.end_ns}}, logged));
  }
  return all;
}

// One entry per phase: the merged windows of that phase.
NamedStretches phase_stretches(const Phases& phases, Interval logged) {
  NamedStretches all;
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    std::vector<Interval> intervals;
    for (size_t i = 0; i < phases.windows.windows.size(); ++i) {
      const Window& window = phases.windows.windows[i];
      if (phases.phase[i] == phase) intervals.push_back({window.start_ns, window.end_ns});
    }
    all.names.emplace_back(phase_name(phase));
    all.merged.push_back(clip(merge_intervals(std::move(intervals)), logged));
  }
  return all;
}

// Energy of each entry, base included, over its covered time. Entries without covered time are
// omitted.
std::vector<EnergyPart> stretch_parts(const NamedStretches& stretches,
                                      const std::vector<Work>& work, const Coverage& covered,
                                      const Laid& laid, CoveredSpan span) {
  const std::vector<StretchPower> powers =
      stretch_powers(stretches.merged, work, covered, laid, span);
  std::vector<EnergyPart> parts;
  for (size_t i = 0; i < powers.size(); ++i) {
    const StretchPower& power = powers[i];
    if (power.covered_ns <= 0) continue;
    const double seconds = static_cast<double>(power.covered_ns) * 1e-9;
    EnergyPart part;
    part.name = stretches.names[i];
    part.energy_uj = std::llround(power.mean_w * seconds * 1e6);
    part.low_j = power.low_w * seconds;
    part.high_j = power.high_w * seconds;
    part.busy_ns = power.busy_ns;
    part.count = power.count;
    parts.push_back(std::move(part));
  }
  return parts;
}

// Energy per kernel name, with whether the name has its own power and why its interval is wide.
void list_kernels(const Trace& trace, const std::vector<Work>& work, const Coverage& covered,
                  CoveredSpan span, const EnergyModel& model, EnergyReport& report) {
  for (const auto& [name, tally] :
       tally_by(work, covered, span, [](const Work& w) { return w.name.value; })) {
    EnergyPart part = part_of(std::string(trace.text(StringId(name))), tally, model);
    const size_t group = model.group_of.at(name);
    part.alone = model.groups[group].size() == 1;
    part.why = report.classes[group].why;
    if (!part.alone && part.why.empty()) part.why = "runs_alike";
    report.kernels_uj += part.energy_uj;
    report.kernels.push_back(std::move(part));
  }
  sort_parts(report.kernels);
}

// ---- results of the fit ----

std::string why_words(const JointFit& fit, const EnergyModel& model, const Trace& trace,
                      size_t power) {
  std::string why = why_wide_name(fit.why[power]);
  if (fit.why[power] != WhyWide::kRunsAlike) return why;
  const size_t other = fit.alike[power];
  return why + ":" +
         (other == 0 ? std::string("base")
                     : std::string(trace.text(StringId(model.groups[other - 1].front()))));
}

void list_classes(const Trace& trace, const Laid& laid, EnergyReport& report) {
  const JointFit& fit = laid.model.fit;
  for (size_t g = 0; g < laid.model.groups.size(); ++g) {
    PowerClass listed;
    listed.others = g == laid.pooled_group;
    const std::vector<uint32_t>& names = laid.model.groups[g];
    const size_t own = names.size() - (listed.others ? laid.pooled : 0);
    for (size_t i = 0; i < own; ++i) listed.names.emplace_back(trace.text(StringId(names[i])));
    if (listed.others) listed.names.push_back(std::to_string(laid.pooled) + " other kernels");
    listed.above_idle_w = fit.powers_w[g + 1];
    listed.low_w = std::min(fit.powers_95[g + 1].low, listed.above_idle_w);
    listed.high_w =
        std::max(std::min(fit.powers_95[g + 1].high, laid.model.most_w), listed.above_idle_w);
    if (!fit.follows) {
      listed.low_w = 0;
      listed.high_w = laid.model.most_w;
    }
    listed.window_share = std::max(0.0, laid.shares[g]);
    listed.why = why_words(fit, laid.model, trace, g + 1);
    report.classes.push_back(std::move(listed));
  }
}

Fitted fitted(double value, const Span95& range, const Span95& prior, double unit) {
  return {value * unit, std::min(range.low, value) * unit, std::max(range.high, value) * unit,
          prior.low * unit, prior.high * unit};
}

EnergyReport::Mode mode_of(const JointFit::Mode& mode, const JointFit& fit) {
  return {mode.response.lag_s * 1e9, mode.worse / fit.critical};
}

// True if no response of the model explains the samples. Then no interval of a power is valid.
bool smooths(const JointFit& fit) {
  constexpr double kNearLimit = 0.01;
  const bool at_limit = fit.kept.high > kMostKept - kNearLimit;
  // With a single load, the intervals already cover every part kept that fits.
  if (fit.one_load && !fit.kept_told) return fit.follows && at_limit && fit.carried.is_found();
  return fit.follows && (at_limit || fit.carried.is_found());
}

void describe_fit(const Laid& laid, EnergyReport& report) {
  const JointFit& fit = laid.model.fit;
  report.zone_ns = laid.zone_ns;
  report.lag_searched = laid.lag_searched;
  report.follows = fit.follows;
  report.separates = fit.separates;
  report.smoothed = smooths(fit);
  report.explained = fit.explained;
  report.residual_w = fit.noise_w;
  report.readings = fit.readings;
  report.period_ns = std::llround(laid.grid.period_s * 1e9);
  report.grid = grid_source_name(laid.grid.source);
  const Response& r = fit.response;
  const ResponsePrior& prior = laid.problem.prior;
  report.lag_ns = fitted(r.lag_s, fit.lag_s, prior.lag_s, 1e9);
  report.window_ns = fitted(r.window_s, fit.window_s, prior.window_s, 1e9);
  report.ramp_ns =
      fitted(ramp_list_s()[r.ramp], up_to_neighbours(fit.ramp_s, prior.ramp_s), prior.ramp_s, 1e9);
  report.kept_told = fit.kept_told;
  report.kept = {r.kept, std::min(fit.kept.low, r.kept), std::max(fit.kept.high, r.kept), 0, 1};
  report.drift_ppm = fitted(r.drift, fit.drift, {-prior.drift, prior.drift}, 1e6);
  report.base_w = fit.powers_w[0];
  report.base_low_w = std::min(fit.powers_95[0].low, report.base_w);
  report.base_high_w = std::max(fit.powers_95[0].high, report.base_w);
  if (!fit.follows) {
    report.base_low_w = 0;
    for (const TimedPower& update : laid.problem.updates) {
      report.base_high_w = std::min(report.base_high_w, update.power_w);
    }
    report.base_w = std::min(report.base_w, report.base_high_w);
  }
  for (const JointFit::Mode& mode : fit.modes) {
    const bool known =
        std::any_of(report.modes.begin(), report.modes.end(), [&](const EnergyReport::Mode& one) {
          return std::fabs(one.lag_ns - mode.response.lag_s * 1e9) < kModesApartNs;
        });
    if (mode.worse <= fit.critical && !known) report.modes.push_back(mode_of(mode, fit));
  }
}

void list_lags(const Laid& laid, EnergyReport& report) {
  const JointFit& fit = laid.model.fit;
  for (const JointFit::Mode& mode : profile_over_lag(laid.problem, fit)) {
    report.by_lag.push_back(mode_of(mode, fit));
  }
}

// True if window or ramp is at a limit of the range for cards of the model. The sensor is then a
// different one.
bool is_unlike_usual(const EnergyReport& report) {
  const auto at_end = [](const Fitted& one, bool low_too) {
    const double near = 0.01 * (one.prior_high - one.prior_low);
    return one.value > one.prior_high - near || (low_too && one.value < one.prior_low + near);
  };
  const bool filter = report.window_ns.prior_low < 0.5 * report.window_ns.prior_high;
  return at_end(report.window_ns, !filter) || at_end(report.ramp_ns, false);
}

// Delay in seconds of a sample relative to the middle of the interval since the previous one. With
// `hold` it is the given lag; with an unknown response it is 0.
double late_s(const Laid& laid, bool hold) {
  const JointFit& fit = laid.model.fit;
  if (hold) return fit.response.lag_s;
  return fit.follows ? centre_s(fit.response, laid.grid.period_s) - laid.grid.period_s / 2 : 0;
}

// Samples on the trace's clock, shifted so that each represents the time since the previous one. A
// window of width w after a lag and a ramp is centred at t - lag - w/2 - ramp.
std::vector<PowerReading> moved_readings(const PowerSeries& series, const Laid& laid, bool hold) {
  std::vector<PowerReading> moved = series.readings;
  const int64_t moved_ns = laid.moved_ns - std::llround(late_s(laid, hold) * 1e9);
  for (PowerReading& reading : moved) reading.t_ns += moved_ns;
  return moved;
}

// The samples inside the span. The one before it and the one after it are moved to its ends.
// Without them, up to a period of energy would be missing at either end: 16 of 1,242 J in a job of
// 3 s.
std::vector<PowerReading> readings_of_work(const std::vector<PowerReading>& moved, const Laid& laid,
                                           CoveredSpan span) {
  const auto at = [&moved](int64_t t_ns) {
    return std::lower_bound(moved.begin(), moved.end(), t_ns,
                            [](const PowerReading& one, int64_t t) { return one.t_ns < t; });
  };
  const auto first = at(span.begin_ns);
  const auto behind = at(span.end_ns + 1);
  std::vector<PowerReading> of_work(first, behind);
  const int64_t longest = longest_stand_ns(of_work, std::llround(laid.grid.period_s * 1e9));
  if (of_work.empty()) return of_work;
  if (first != moved.begin() && first->t_ns - (first - 1)->t_ns <= longest) {
    of_work.insert(of_work.begin(), {span.begin_ns, (first - 1)->power_w});
  }
  if (behind != moved.end() && behind->t_ns - (behind - 1)->t_ns <= longest) {
    of_work.push_back({span.end_ns, behind->power_w});
  }
  return of_work;
}

// Energy of the work that the sensor shows in the idle time before and after it, because window and
// ramp spread it. It is a sixth for a job of 1 s under a mean of 1 s.
double shown_outside_j(const PowerSeries& series, const Laid& laid, CoveredSpan span, bool hold) {
  const JointFit& fit = laid.model.fit;
  if (!fit.follows) return 0;
  const int64_t reach_ns = std::llround((fit.reach_s - fit.response.lag_s) * 1e9);
  const int64_t moved_ns = laid.moved_ns - std::llround(late_s(laid, hold) * 1e9);
  const int64_t longest_ns =
      longest_stand_ns(series.readings, std::llround(laid.grid.period_s * 1e9));
  double joules = 0;
  for (size_t i = 1; i < series.readings.size(); ++i) {
    const int64_t from_ns = series.readings[i - 1].t_ns + moved_ns;
    const int64_t to_ns = series.readings[i].t_ns + moved_ns;
    if (to_ns - from_ns > longest_ns) continue;
    const auto add = [&](const std::optional<IdleStretch>& idle, int64_t begin_ns, int64_t end_ns) {
      const int64_t inside_ns = std::min(to_ns, end_ns) - std::max(from_ns, begin_ns);
      if (!idle || inside_ns <= 0) return;
      joules +=
          (series.readings[i].power_w - idle->level_w) * static_cast<double>(inside_ns) * 1e-9;
    };
    add(laid.idle.before, span.begin_ns - reach_ns, span.begin_ns);
    add(laid.idle.after, span.end_ns, span.end_ns + reach_ns);
  }
  return joules;
}

// A measured energy and its interval.
struct Measured {
  double joules = 0;
  double low_j = 0;
  double high_j = 0;
};

// The first samples also show power from before the work, and the last from after it. If the log
// has no idle there, the model's energy of that time replaces them.
void replace_edges(const std::vector<Work>& work, const Coverage& covered,
                   const std::vector<PowerReading>& inside, const Laid& laid, CoveredSpan span,
                   bool hold, Measured& total) {
  const JointFit& fit = laid.model.fit;
  const double late = late_s(laid, hold);
  const int64_t longest_ns = longest_stand_ns(inside, std::llround(laid.grid.period_s * 1e9));
  const auto replace = [&](int64_t begin_ns, int64_t end_ns) {
    if (end_ns <= begin_ns) return;
    Tallies all = tally_by(work, covered, {begin_ns, end_ns}, [](const Work&) { return 0U; });
    EnergyTally tally = all.empty() ? EnergyTally{} : std::move(all.begin()->second);
    tally.base_ns = covered.inside(begin_ns, end_ns);
    const EnergyPart modelled = part_of("", tally, laid.model);
    const double measured_j = joules_between(inside, longest_ns, begin_ns, end_ns);
    total.joules += static_cast<double>(modelled.energy_uj) * 1e-6 - measured_j;
    total.low_j += modelled.low_j - measured_j;
    total.high_j += modelled.high_j - measured_j;
  };
  const auto ns = [](double seconds) -> int64_t {
    return std::llround(std::max(0.0, seconds) * 1e9);
  };
  int64_t settled_ns = span.begin_ns;
  if (!laid.idle.before) {
    settled_ns = std::min(span.end_ns, span.begin_ns + ns(fit.reach_s - late));
    replace(span.begin_ns, settled_ns);
  }
  if (!laid.idle.after) {
    replace(std::max(settled_ns, span.end_ns - ns(late - fit.lag_s.low)), span.end_ns);
  }
}

// Energy of the covered time by the samples. If they do not follow the trace, the delay of the
// sensor is unknown up to the limit for any sensor.
Measured measured_total(const PowerSeries& series, const std::vector<Work>& work,
                        const Coverage& covered, const std::vector<PowerReading>& moved,
                        const std::vector<PowerReading>& inside, const Laid& laid, CoveredSpan span,
                        bool hold) {
  Measured total;
  total.joules = covered.joules() + shown_outside_j(series, laid, span, hold);
  total.low_j = total.high_j = total.joules;
  if (laid.model.fit.follows) {
    replace_edges(work, covered, inside, laid, span, hold, total);
    return total;
  }
  const ResponsePrior& prior = laid.problem.prior;
  const double latest_s =
      std::max(0.0, prior.lag_s.high) + prior.window_s.high + 2 * prior.ramp_s.high;
  const Span95 more =
      left_out_j(moved, longest_stand_ns(inside, std::llround(laid.grid.period_s * 1e9)),
                 inside.front().t_ns, inside.back().t_ns, std::llround(latest_s * 1e9));
  total.low_j = std::max(0.0, total.joules + more.low);
  total.high_j = total.joules + more.high;
  return total;
}

void list_fit(const Laid& laid, CoveredSpan span, EnergyReport& report) {
  const JointFit& fit = laid.model.fit;
  for (size_t i = 0; i < laid.problem.updates.size(); ++i) {
    const double at_s = laid.problem.updates[i].t_s - fit.response.lag_s;
    report.fit.push_back({span.begin_ns + std::llround(at_s * 1e9), laid.problem.updates[i].power_w,
                          fit.modelled_w[i]});
  }
}

// Independent relative errors of samples and gain, added in quadrature.
void add_true_energy(const SensorGain& gain, EnergyReport& report) {
  report.gain = gain;
  const double kernels_j = static_cast<double>(report.kernels_uj) * 1e-6;
  report.kernels_true_j = kernels_j / gain.value;
  if (kernels_j <= 0 || !report.follows) {
    report.kernels_true_high_j = report.kernels_high_j / gain.low;
    return;
  }
  const double below = std::hypot(1 - report.kernels_low_j / kernels_j, 1 - gain.value / gain.high);
  const double above = std::hypot(report.kernels_high_j / kernels_j - 1, gain.value / gain.low - 1);
  report.kernels_true_low_j = report.kernels_true_j * std::max(0.0, 1 - below);
  report.kernels_true_high_j = report.kernels_true_j * (1 + above);
}

// If the samples do not follow the trace or do not separate base and kernels, a part may have any
// energy from 0 to the total, limited by its time.
void bracket(const EnergyReport& report, double most_w, EnergyPart& part) {
  if (report.follows) return;
  const double most_j = static_cast<double>(part.busy_ns) * 1e-9 * most_w;
  part.low_j = 0;
  part.high_j = std::min(report.total_high_j, most_j);
}

// Base and kernels by the model, with the interval of their sum.
void add_model_total(const std::vector<Work>& work, const Coverage& covered, CoveredSpan span,
                     const EnergyModel& model, EnergyReport& report) {
  Tallies all = tally_by(work, covered, span, [](const Work&) { return 0U; });
  EnergyTally tally = all.empty() ? EnergyTally{} : std::move(all.begin()->second);
  EnergyPart kernels = part_of("", tally, model);
  bracket(report, model.most_w, kernels);
  report.kernels_low_j = kernels.low_j;
  report.kernels_high_j = kernels.high_j;
  tally.base_ns = covered.covered_ns();
  const EnergyPart whole = part_of("", tally, model);
  report.model_total_j = static_cast<double>(whole.energy_uj) * 1e-6;
  report.model_low_j = whole.low_j;
  report.model_high_j = whole.high_j;
  const double total_j = static_cast<double>(report.total_uj) * 1e-6;
  if (report.follows) {
    report.total_low_j = std::min({report.total_low_j, report.model_low_j, total_j});
    report.total_high_j = std::max({report.total_high_j, report.model_high_j, total_j});
  }
  const bool outside = total_j < report.model_low_j || total_j > report.model_high_j;
  report.aliased = outside && std::fabs(report.model_total_j - total_j) > kAliasedAtLeast * total_j;
}

// True if the model's sum contradicts that of the samples. Then no part of the model is right. The
// samples of a sensor that averages over part of the time sum to anything.
bool contradicts(const EnergyReport& report) {
  constexpr double kApart = 0.1;
  const double total_j = static_cast<double>(report.total_uj) * 1e-6;
  const double seen_ns = report.window_ns.value + 2 * report.ramp_ns.value;
  return report.follows && total_j > 0 && seen_ns >= 0.9 * report.period_ns &&
         std::fabs(report.model_total_j - total_j) > kApart * total_j;
}

// The log's energy counter, as an independent value or with a caveat if it contradicts the powers.
void add_counter(const CounterCheck& counter, EnergyReport& report) {
  if (!counter.known) return;
  report.counter_j = counter.joules;
  report.counter_modelled_j = counter.modelled_j;
  report.counter_used = counter.used;
  if (counter.used) return;
  report.trust.push_back(
      {"counter_disagrees", 1, 0, "energy_j, total_j",
       "the log's energy counter and its powers contradict each other by more than both can be "
       "off: the powers were taken, the counter was not"});
}

// Totals of the covered time: measured, base, and kernels by the powers of the model.
void list_totals(const Trace& trace, const std::vector<Work>& work, const Coverage& covered,
                 const CoveredSpan& span, const AttributeOptions& options, const EnergyModel& model,
                 const Measured& measured, EnergyReport& report) {
  report.covered_ns = covered.covered_ns();
  const double covered_s = static_cast<double>(report.covered_ns) * 1e-9;
  report.total_uj = std::llround(measured.joules * 1e6);
  report.total_low_j = measured.low_j;
  report.total_high_j = measured.high_j;
  report.mean_w = covered_s > 0 ? measured.joules / covered_s : 0;
  report.base_uj = std::llround(report.base_w * covered_s * 1e6);
  list_kernels(trace, work, covered, span, model, report);
  report.unattributed_uj = report.total_uj - report.base_uj - report.kernels_uj;
  add_model_total(work, covered, span, model, report);
  add_true_energy(options.gain, report);
}

// The energy of the kernels by operator and by every requested grouping.
void list_groups(const Trace& trace, const std::vector<Work>& work, const Coverage& covered,
                 const CoveredSpan& span, const AttributeOptions& options, const EnergyModel& model,
                 EnergyReport& report) {
  const auto parts_by = [&](auto&& group_of, auto&& name_of) {
    return parts_of(tally_by(work, covered, span, group_of), model, report.kernels_uj, name_of);
  };
  report.operators =
      parts_by([](const Work& w) { return w.op.value; },
               [&](uint32_t op) {
                 return op == 0 ? "(no operator)" : std::string(trace.text(StringId(op)));
               });
  for (const WorkGrouping& grouping : options.groupings) {
    const auto group_of = [&](const Work& w) { return grouping.of_activity[w.activity.index()]; };
    const auto name_of = [&](uint32_t group) {
      return group == WorkGrouping::kNone ? "(none)" : grouping.names[group];
    };
    report.groupings.push_back({grouping.key, grouping.title, parts_by(group_of, name_of)});
  }
}

// Base energy in each named idle time, and in the rest, when something ran. Largest first.
std::vector<EnergyPart> idle_parts(const std::vector<NamedTime>& idle, const Coverage& covered,
                                   const EnergyReport& report) {
  std::vector<EnergyPart> parts;
  if (idle.empty()) return parts;
  int64_t left_ns = report.covered_ns;
  const auto add = [&](std::string name, int64_t ns, uint64_t count) {
    const double seconds = static_cast<double>(ns) * 1e-9;
    EnergyPart part;
    part.name = std::move(name);
    part.count = count;
    part.energy_uj = std::llround(report.base_w * seconds * 1e6);
    part.low_j = report.base_low_w * seconds;
    part.high_j = report.base_high_w * seconds;
    part.busy_ns = ns;
    parts.push_back(std::move(part));
  };
  for (const NamedTime& one : idle) {
    int64_t ns = 0;
    for (const Interval& span : one.merged) ns += covered.inside(span.start_ns, span.end_ns);
    left_ns -= ns;
    if (ns > 0) add(one.name, ns, one.merged.size());
  }
  if (left_ns > 0) add("(while work runs)", left_ns, 0);
  sort_parts(parts);
  settle_rounding(parts, report.base_uj);
  return parts;
}

// Energy per token. The interval covers the measured and the modelled total and the range of the
// token count. A count over the whole trace is not used if the log covers only part of it.
void add_per_token(const AttributeOptions& options, int64_t span_ns, double joules, EnergyReport& report) {
  constexpr double kWhole = 0.98;
  const bool whole = static_cast<double>(report.covered_ns) >= kWhole * static_cast<double>(span_ns);
  if (options.tokens == 0 || (options.most_tokens > 0 && !whole)) return;
  const auto least = static_cast<double>(options.tokens);
  const auto most = static_cast<double>(std::max(options.tokens, options.most_tokens));
  report.energy_per_token_j = joules / least;
  report.energy_per_token_low_j = std::min(joules, report.total_low_j) / most;
  report.energy_per_token_high_j = std::max(joules, report.total_high_j) / least;
}

// Energy per prompt token of the steps that process only prompts, base included. If the samples do
// not separate base and kernels, they do not separate steps either.
void add_per_prompt_token(const AttributeOptions& options, const StretchPower& power,
                          EnergyReport& report) {
  constexpr double kWhole = 0.98;
  const auto span_ns = static_cast<double>(length_ns(options.prefill));
  const auto covered_ns = static_cast<double>(power.covered_ns);
  if (!report.follows || covered_ns <= 0 || covered_ns < kWhole * span_ns) return;
  const double seconds_each = span_ns * 1e-9 / static_cast<double>(options.prompt_tokens);
  report.energy_per_prompt_token_j = power.mean_w * seconds_each;
  report.energy_per_prompt_token_low_j = power.low_w * seconds_each;
  report.energy_per_prompt_token_high_j = power.high_w * seconds_each;
}

// Caveats of the whole report.
void add_trust(const Coverage& covered, CoveredSpan span, const AttributeOptions& options,
               const Laid& laid, EnergyReport& report) {
  add_coverage_trust(covered, span, report.trust);
  add_sensor_trust(report, options.sensor, report.trust);
  if (report.smoothed) add_smoothing_trust(report.trust);
  add_counter(laid.counter, report);
  add_model_trust(report, laid.pooled, report.trust);
  add_clock_trust(report.clocks, report.trust);
}

Result<EnergyReport> energy_by_fit(const Trace& trace, const Windows& windows, const Phases& phases,
                                   const PowerSeries& series, const AttributeOptions& options,
                                   const std::vector<Work>& work, CoveredSpan span, Laid& laid) {
  const bool hold = options.sensor.hold;
  const std::vector<PowerReading> moved = moved_readings(series, laid, hold);
  const std::vector<PowerReading> inside = readings_of_work(moved, laid, span);
  if (inside.size() < 2) {
    return Error{ErrorCode::kInvalidArgument, "the log has no reading inside the trace's work", "",
                 -1};
  }
  EnergyReport report;
  describe_fit(laid, report);
  report.usual_sensor = options.sensor.usual;
  report.sensor_unlike =
      !options.sensor.usual.empty() && (is_unlike_usual(report) || report.smoothed);
  if (report.sensor_unlike) return report;  // the caller fits again and ignores the rest
  list_lags(laid, report);
  list_fit(laid, span, report);
  const Coverage covered(inside, longest_stand_ns(inside, std::llround(report.period_ns)));
  EnergyModel& model = laid.model;
  for (const auto& [name, tally] :
       tally_by(work, covered, span, [](const Work& w) { return w.name.value; })) {
    model.time_of_ns[name] = tally.ns.at(name);
  }
  report.trace_begin_ns = span.begin_ns;
  report.begin_ns = inside.front().t_ns;
  report.end_ns = inside.back().t_ns;
  list_classes(trace, laid, report);
  const Measured measured = measured_total(series, work, covered, moved, inside, laid, span, hold);
  list_totals(trace, work, covered, span, options, model, measured, report);
  list_groups(trace, work, covered, span, options, model, report);
  for (EnergyPart& part : report.kernels) bracket(report, model.most_w, part);
  for (EnergyPart& part : report.operators) bracket(report, model.most_w, part);
  for (EnergyGrouping& grouping : report.groupings) {
    for (EnergyPart& part : grouping.parts) bracket(report, model.most_w, part);
  }
  const Interval logged{report.begin_ns, report.end_ns};
  report.iterations =
      stretch_parts(iteration_stretches(windows, logged), work, covered, laid, span);
  report.phases = stretch_parts(phase_stretches(phases, logged), work, covered, laid, span);
  report.idle = idle_parts(options.idle, covered, report);
  add_per_token(options, span.end_ns - span.begin_ns, measured.joules, report);
  report.stretches = stretch_powers(options.stretches, work, covered, laid, span);
  if (options.prompt_tokens > 0) {
    const auto powers = stretch_powers({options.prefill}, work, covered, laid, span);
    add_per_prompt_token(options, powers.front(), report);
  }
  const int64_t in_trace_ns = laid.moved_ns - std::llround(laid.model.fit.response.lag_s * 1e9);
  report.clocks = find_log_clocks(series, in_trace_ns, work, span, laid.idle);
  add_trust(covered, span, options, laid, report);
  return report;
}

}  // namespace

Result<EnergyReport> attribute_energy(const Trace& trace, const Links& links,
                                      const Windows& windows, const Phases& phases,
                                      const PowerSeries& series, const AttributeOptions& options) {
  const std::vector<Work> work = work_of(trace, links, options.device);
  if (work.empty())
    return Error{ErrorCode::kInvalidArgument, "the trace has no device work to attribute energy to",
                 "", -1};
  const CoveredSpan span = span_of(work, trace);
  if (std::string why = why_total_only(series); !why.empty()) {
    return total_energy(series, span, options, std::move(why));
  }
  ASSAY_TRY_ASSIGN(Laid laid, lay_log(series, options, work, span));
  if (smooths(laid.model.fit) && !options.sensor.told()) {
    return total_energy(series, span, options,
                        "a sample of this sensor keeps a part of the one before it, as smoothing "
                        "firmware does, in a way that the model cannot follow");
  }
  Result<EnergyReport> report =
      energy_by_fit(trace, windows, phases, series, options, work, span, laid);
  if (!report || !contradicts(*report)) return report;
  laid.model.fit = without_separation(std::move(laid.model.fit));
  return energy_by_fit(trace, windows, phases, series, options, work, span, laid);
}

}  // namespace assay
