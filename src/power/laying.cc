#include "power/laying.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "power/joint/classes.h"
#include "power/joint/fit.h"

namespace assay {
namespace {

constexpr size_t kFewestReadings = 20;
constexpr size_t kReadingsPerClass = 10;
constexpr double kWellExplained = 0.9;
constexpr double kMarginS = 5;  // of log used on each side of the work, for idle and updates

Error laying_error(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

std::string seconds(int64_t ns) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.3f s", static_cast<double>(ns) * 1e-9);
  return text;
}

// ---- the log on the trace's clock ----

constexpr int64_t kQuarterHour = 900'000'000'000;

// Time-zone shifts (whole quarter hours, not 0) with which log and trace overlap, ascending.
std::vector<int64_t> zones_that_meet(CoveredSpan trace, CoveredSpan log) {
  constexpr int64_t kMostQuarters = int64_t{14} * 4;
  std::vector<int64_t> zones;
  for (int64_t quarters = -kMostQuarters; quarters <= kMostQuarters; ++quarters) {
    const int64_t shift = quarters * kQuarterHour;
    const bool meets = log.begin_ns + shift < trace.end_ns && log.end_ns + shift > trace.begin_ns;
    if (meets && quarters != 0) zones.push_back(shift);
  }
  return zones;
}

bool meet(CoveredSpan a, CoveredSpan b) { return a.begin_ns <= b.end_ns && a.end_ns >= b.begin_ns; }

Error no_overlap(CoveredSpan trace, CoveredSpan log) {
  const std::vector<int64_t> zones = zones_that_meet(trace, log);
  std::string hint;
  if (!zones.empty()) {
    hint = "; they would with --offset " + std::to_string(zones.front() / 1'000'000'000) +
           ", as if the log were in another time zone";
  }
  return laying_error("the log and the trace do not overlap: the log spans " +
                      seconds(log.begin_ns) + " to " + seconds(log.end_ns) +
                      ", the trace's device work " + seconds(trace.begin_ns) + " to " +
                      seconds(trace.end_ns) + "; --offset SECONDS lays one over the other" + hint);
}

bool whole_seconds(const PowerSeries& series) {
  return std::all_of(series.readings.begin(), series.readings.end(),
                     [](const PowerReading& r) { return r.t_ns % 1'000'000'000 == 0; });
}

ResponsePrior prior_of(const PowerSeries& series, const SensorPrior& sensor) {
  ResponsePrior prior;
  if (whole_seconds(series)) prior.lag_s.low = -1.1;
  const double delay_s = static_cast<double>(sensor.delay_ns) * 1e-9;
  prior.lag_s.low += delay_s;
  prior.lag_s.high += delay_s;
  if (sensor.offset_within_ns >= 0) {
    const double within_s = static_cast<double>(sensor.offset_within_ns) * 1e-9;
    prior.lag_s = {delay_s - within_s, delay_s + within_s};
  }
  if (sensor.window_low_ns > 0) {
    prior.window_s = {static_cast<double>(sensor.window_low_ns) * 1e-9,
                      static_cast<double>(sensor.window_high_ns) * 1e-9};
  }
  prior.two_ramps = sensor.ramp_low_ns < 0;
  if (sensor.ramp_low_ns >= 0) {
    prior.ramp_s = {ramp_list_s()[nearest_ramp(static_cast<double>(sensor.ramp_low_ns) * 1e-9)],
                    ramp_list_s()[nearest_ramp(static_cast<double>(sensor.ramp_high_ns) * 1e-9)]};
  }
  if (sensor.hold) {
    const double middle_s = (prior.window_s.low + prior.window_s.high) / 2;
    prior = {{delay_s, delay_s}, {middle_s, middle_s}, {0, 0}, 0};
  }
  return prior;
}

// The log's samples near the work, in seconds since the begin of the span.
std::vector<TimedPower> polls_near(const PowerSeries& series, int64_t moved_ns, CoveredSpan span,
                                   WorkSpan work) {
  std::vector<TimedPower> polls;
  for (const PowerReading& reading : series.readings) {
    const double t = static_cast<double>(reading.t_ns + moved_ns - span.begin_ns) * 1e-9;
    if (t >= work.begin_s - kMarginS && t <= work.end_s + kMarginS) {
      polls.push_back({t, reading.power_w});
    }
  }
  return polls;
}

// Time in which the activities are known. Idle in the log extends it, whatever the extent of the
// trace.
struct KnownSpan {
  double begin_s = 0;
  double end_s = 0;
};

KnownSpan known_span(double end_s, WorkSpan work, const LogIdle& idle) {
  constexpr double kShowBackS = 3;  // level samples imply idle for as long before them
  if (!idle.any()) return {0, end_s};
  return {idle.before ? idle.before->begin_s - kShowBackS : work.begin_s,
          idle.after ? idle.after->end_s : work.end_s};
}

std::vector<TimedUse> use_near(const std::vector<LoggedValue>& use, int64_t moved_ns,
                               CoveredSpan span) {
  std::vector<TimedUse> timed;
  for (const LoggedValue& one : use) {
    timed.push_back({static_cast<double>(one.t_ns + moved_ns - span.begin_ns) * 1e-9, one.value});
  }
  return timed;
}

// Updates with a window inside the known time. Outside it, unrecorded activities may have run.
std::vector<TimedPower> updates_inside(const std::vector<TimedPower>& updates, double reach_s,
                                       double least_lag_s, KnownSpan known) {
  std::vector<TimedPower> inside;
  for (const TimedPower& update : updates) {
    if (update.t_s - reach_s >= known.begin_s && update.t_s - least_lag_s <= known.end_s) {
      inside.push_back(update);
    }
  }
  return inside;
}

// ---- classes ----

// Columns by time: one per name for those with most time, and one for the rest.
struct Columns {
  std::vector<uint32_t> names;                     // with a column each, most time first
  std::vector<uint32_t> pooled;                    // in the last column
  std::unordered_map<uint32_t, size_t> column_of;  // by name
  size_t count() const { return names.size() + (pooled.empty() ? 0 : 1); }
};

Columns choose_columns(const std::vector<Work>& work, size_t most) {
  std::map<uint32_t, int64_t> time;
  for (const Work& w : work) time[w.name.value] += w.end_ns - w.start_ns;
  std::vector<std::pair<int64_t, uint32_t>> order;
  for (const auto& [name, ns] : time) order.emplace_back(-ns, name);
  std::sort(order.begin(), order.end());
  Columns columns;
  const size_t own = order.size() <= most ? order.size() : most - 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t name = order[i].second;
    columns.column_of[name] = std::min(i, own);
    (i < own ? columns.names : columns.pooled).push_back(name);
  }
  return columns;
}

std::vector<std::vector<BusySpan>> busy_spans(const std::vector<Work>& work, const Columns& columns,
                                              int64_t begin_ns) {
  std::vector<std::vector<BusySpan>> spans(columns.count());
  for (const Work& w : work) {
    spans[columns.column_of.at(w.name.value)].push_back(
        {static_cast<double>(w.start_ns - begin_ns) * 1e-9,
         static_cast<double>(w.end_ns - begin_ns) * 1e-9});
  }
  return spans;
}

// ---- the fit ----

Error too_few(size_t readings, double end_s) {
  return laying_error("only " + std::to_string(readings) +
                      " samples have their window inside the trace's activities of " +
                      seconds(std::llround(end_s * 1e9)) +
                      "; at least 20 are needed: trace longer, or sample faster");
}

struct Fit {
  JointFit fit;
  std::vector<TimedPower> updates;
};

// Fits the updates that are inside the known time for any sensor. Then fits again with all that are
// inside under the response found.
Result<Fit> fit_readings(JointProblem problem, const UpdateGrid& grid, KnownSpan known) {
  const ResponsePrior prior = problem.prior;
  const auto inside = [&](const Span95& lag, double window_s, double ramp_s) {
    return updates_inside(grid.updates, lag.high + window_s + 4 * ramp_s, lag.low, known);
  };
  const std::vector<TimedPower> surely =
      inside(prior.lag_s, prior.window_s.high, prior.ramp_s.high);
  const double usual_s = std::clamp(1.5 * grid.period_s, prior.window_s.low, prior.window_s.high);
  const Span95 usual_lag{std::min(prior.lag_s.high, 0.0), std::max(prior.lag_s.low, 0.0)};
  const std::vector<TimedPower> likely = inside(usual_lag, usual_s, 0);
  problem.updates =
      surely.size() >= std::max(kFewestReadings * 3, likely.size() / 2) ? surely : likely;
  if (problem.updates.size() < kFewestReadings) return too_few(problem.updates.size(), known.end_s);
  JointFit fit = fit_jointly(problem);
  std::vector<TimedPower> better = updates_inside(grid.updates, fit.reach_s, fit.lag_s.low, known);
  if (!fit.follows || better.size() < kFewestReadings) {
    return Fit{std::move(fit), std::move(problem.updates)};
  }
  const bool same =
      better.size() == problem.updates.size() && better.front().t_s == problem.updates.front().t_s;
  if (same) return Fit{std::move(fit), std::move(problem.updates)};
  problem.updates = better;
  return Fit{fit_jointly(std::move(problem)), std::move(better)};
}

// ---- one alignment of the log ----

// Maximum weight of the previous update; 0 = not fitted. It is fitted only if every update is known
// and the response is not.
double most_kept(const Laid& laid, const AttributeOptions& options) {
  const bool known =
      laid.grid.source == GridSource::kRepeats || laid.grid.source == GridSource::kStamps;
  return known && laid.problem.prior.two_ramps && !options.sensor.means ? kMostKept : 0;
}

// Maximum power of a kernel. Infinite if the log may be of several GPUs, because they exceed the
// limit of one.
double most_watts(const std::vector<TimedPower>& polls, const AttributeOptions& options) {
  double shown_w = 0;
  for (const TimedPower& poll : polls) shown_w = std::max(shown_w, poll.power_w);
  constexpr double kMostShownW = 2000;
  return options.one_gpu && shown_w <= kMostShownW ? kMostKernelWatts
                                                   : std::numeric_limits<double>::infinity();
}

// Makes one class of the fit from each group of columns, and stores its names.
void take_groups(const std::vector<std::vector<size_t>>& groups, const Columns& columns,
                 const std::vector<std::vector<BusySpan>>& by_column, JointProblem& problem,
                 Laid& laid) {
  problem.classes.clear();
  laid.model.groups.clear();
  for (const std::vector<size_t>& group : groups) {
    std::vector<BusySpan>& spans = problem.classes.emplace_back();
    std::vector<uint32_t>& names = laid.model.groups.emplace_back();
    for (const size_t column : group) {
      spans.insert(spans.end(), by_column[column].begin(), by_column[column].end());
      if (column < columns.names.size()) {
        names.push_back(columns.names[column]);
        continue;
      }
      laid.pooled_group = laid.model.groups.size() - 1;
      names.insert(names.end(), columns.pooled.begin(), columns.pooled.end());
    }
    for (const uint32_t name : names) laid.model.group_of[name] = laid.model.groups.size() - 1;
  }
}

// ---- the counter ----

// First and last change of the counter inside the trace. Its error is the maximum energy between
// two changes.
struct CountedSpan {
  double begin_s = 0;
  double end_s = 0;
  double joules = 0;
  double sigma_j = 0;
};

std::optional<CountedSpan> counted_span(const PowerSeries& series, int64_t moved_ns,
                                        CoveredSpan span, double most_w) {
  constexpr size_t kFewestChanges = 20;
  std::vector<EnergyCount> changes;
  for (size_t i = 1; i < series.counter.size(); ++i) {
    EnergyCount count = series.counter[i];
    count.t_ns += moved_ns;
    const bool inside = count.t_ns >= span.begin_ns && count.t_ns <= span.end_ns;
    if (inside && count.joules > series.counter[i - 1].joules) changes.push_back(count);
  }
  if (changes.size() < kFewestChanges) return std::nullopt;
  const auto seconds = [span](int64_t t_ns) {
    return static_cast<double>(t_ns - span.begin_ns) * 1e-9;
  };
  CountedSpan counted{seconds(changes.front().t_ns), seconds(changes.back().t_ns),
                      changes.back().joules - changes.front().joules, 0};
  const double period_s =
      (counted.end_s - counted.begin_s) / static_cast<double>(changes.size() - 1);
  counted.sigma_j = most_w * period_s;
  return counted;
}

// Seconds that the base and every class ran from begin to end.
std::vector<double> ran_s(const std::vector<std::vector<BusySpan>>& classes, double begin_s,
                          double end_s) {
  std::vector<double> seconds{end_s - begin_s};
  for (const std::vector<BusySpan>& spans : classes) {
    double sum = 0;
    for (const BusySpan& one : spans) {
      sum += std::max(0.0, std::min(one.end_s, end_s) - std::max(one.start_s, begin_s));
    }
    seconds.push_back(sum);
  }
  return seconds;
}

// Adds the counter to the fit unless the two contradict each other. Public reports show that either
// can be wrong.
void take_counter(const PowerSeries& series, CoveredSpan span, Laid& laid) {
  constexpr double kSigmas = 2;
  JointFit& fit = laid.model.fit;
  if (series.counter.empty() || !fit.follows) return;
  double most_w = 0;
  for (const TimedPower& update : laid.problem.updates) most_w = std::max(most_w, update.power_w);
  const auto counted = counted_span(series, laid.moved_ns, span, most_w);
  if (!counted) return;
  const EnergyRow row{ran_s(laid.problem.classes, counted->begin_s, counted->end_s),
                      counted->joules, counted->sigma_j};
  const Span95 modelled = fit.interval(row.seconds);
  laid.counter = {true, counted->joules, counted->sigma_j, 0, false};
  for (size_t i = 0; i < row.seconds.size(); ++i) {
    laid.counter.modelled_j += row.seconds[i] * fit.powers_w[i];
  }
  laid.counter.used = counted->joules + kSigmas * counted->sigma_j >= modelled.low &&
                      counted->joules - kSigmas * counted->sigma_j <= modelled.high;
  if (laid.counter.used) fit = with_counter(fit, row);
}

WorkSpan work_span(const std::vector<Work>& work, CoveredSpan span) {
  int64_t begin_ns = INT64_MAX;
  int64_t end_ns = INT64_MIN;
  for (const Work& w : work) {
    begin_ns = std::min(begin_ns, w.start_ns);
    end_ns = std::max(end_ns, w.end_ns);
  }
  return {static_cast<double>(begin_ns - span.begin_ns) * 1e-9,
          static_cast<double>(end_ns - span.begin_ns) * 1e-9};
}

// Mean share of every class over the samples inside the trace, without those of idle around it.
std::vector<double> shares_of_trace(const Laid& laid, KnownSpan traced) {
  const Response& r = laid.model.fit.response;
  std::vector<TimedPower> updates =
      updates_inside(laid.problem.updates, r.lag_s + r.window_s, r.lag_s, traced);
  if (updates.empty()) updates = laid.problem.updates;
  return mean_shares(laid.problem.classes, updates, r.lag_s, r.window_s);
}

Result<Laid> lay_within(const PowerSeries& series, const AttributeOptions& options,
                        const std::vector<Work>& work, CoveredSpan span, int64_t zone_ns,
                        const ResponsePrior& prior) {
  Laid laid;
  laid.zone_ns = zone_ns;
  laid.moved_ns = options.sensor.offset_ns + zone_ns;
  laid.problem.prior = prior;
  const double end_s = static_cast<double>(span.end_ns - span.begin_ns) * 1e-9;
  const WorkSpan worked = work_span(work, span);
  const std::vector<TimedPower> polls = polls_near(series, laid.moved_ns, span, worked);
  if (polls.size() >= 2) {
    laid.grid = options.sensor.means ? every_poll_new(polls) : find_updates(polls);
  }
  const KnownSpan traced{0, end_s};
  laid.idle = find_log_idle(laid.grid.updates, worked, prior, laid.grid.period_s,
                            use_near(series.use, laid.moved_ns, span));
  const KnownSpan known = known_span(end_s, worked, laid.idle);
  const size_t inside = updates_inside(laid.grid.updates, 0, 0, traced).size();
  if (updates_inside(laid.grid.updates, 0, 0, known).size() < kFewestReadings) {
    return too_few(inside, end_s);
  }
  const size_t most =
      std::clamp<size_t>(inside / kReadingsPerClass, 1, std::max<size_t>(options.classes, 1));
  const Columns columns = choose_columns(work, most);
  laid.pooled = columns.pooled.size();
  const std::vector<std::vector<BusySpan>> by_column = busy_spans(work, columns, span.begin_ns);
  JointProblem& problem = laid.problem;
  problem.seed = options.seed;
  problem.prior.most_kept = most_kept(laid, options);
  problem.base_shown = laid.idle.any();
  problem.most_w = laid.model.most_w = most_watts(polls, options);
  const auto fit_groups = [&](const std::vector<std::vector<size_t>>& groups) {
    take_groups(groups, columns, by_column, problem, laid);
    return fit_readings(problem, laid.grid, known);
  };
  std::vector<std::vector<size_t>> groups =
      group_alike(by_column, laid.grid.updates, laid.grid.period_s);
  ASSAY_TRY_ASSIGN(Fit fit, fit_groups(groups));
  // A sensor with a window shorter than its period separates more classes.
  const double seen_s = fit.fit.window_s.high + 2 * fit.fit.ramp_s.high;
  std::vector<std::vector<size_t>> finer = group_alike(by_column, laid.grid.updates, seen_s);
  if (fit.fit.follows && finer.size() > groups.size()) {
    groups = std::move(finer);
    ASSAY_TRY_ASSIGN(fit, fit_groups(groups));
  }
  laid.model.fit = std::move(fit.fit);
  problem.updates = std::move(fit.updates);
  // Without idle in the log, only the model determines the base, so it must fit well.
  if (!laid.idle.any() && laid.model.fit.explained < kWellExplained) {
    laid.model.fit = without_separation(std::move(laid.model.fit));
  }
  laid.shares = shares_of_trace(laid, traced);
  if (const std::vector<double> levels = laid.idle.levels(); !levels.empty()) {
    laid.model.fit = with_base_levels(laid.model.fit, levels);
  }
  take_counter(series, span, laid);
  return laid;
}

// True if a lag beyond the typical range is worth a search: the samples do not follow the trace, or
// poorly, or best at a limit of the range. Samples that follow the trace but do not separate the
// base still locate the log. A distant lag at which they would separate it is a coincidence.
bool lag_in_doubt(const Laid& laid) {
  const JointFit& fit = laid.model.fit;
  const Span95& usual = laid.problem.prior.lag_s;
  const double near = 0.01 * (usual.high - usual.low);
  return !fit.tracks || fit.explained < kWellExplained || fit.lag_s.low < usual.low + near ||
         fit.lag_s.high > usual.high - near;
}

// True if the fit with the wide range of lags is better by more than its additional freedom
// explains. Each is compared over its own samples.
bool clearly_better(const JointFit& wide, const JointFit& usual, double times_wider) {
  constexpr double kBar = 10;  // chi-square of one, 99.8 %
  if (!wide.follows) return false;
  if (!usual.tracks) return true;
  const double left = std::max(1 - usual.explained, 1e-12) / std::max(1 - wide.explained, 1e-12);
  const double readings = static_cast<double>(std::min(wide.readings, usual.readings));
  return readings / std::max({1.0, wide.repeated, usual.repeated}) * std::log(left) >
         kBar + 2 * std::log(times_wider);
}

// Searches the typical range of lags. If the result is in doubt and the user gave no limit, also
// searches kSearchedS beyond it on both sides: a clock that was never set is off by more than any
// sensor delays.
Result<Laid> lay_over(const PowerSeries& series, const AttributeOptions& options,
                      const std::vector<Work>& work, CoveredSpan span, int64_t zone_ns) {
  constexpr double kSearchedS = 2;
  const SensorPrior& sensor = options.sensor;
  ResponsePrior prior = prior_of(series, sensor);
  ASSAY_TRY_ASSIGN(Laid usual, lay_within(series, options, work, span, zone_ns, prior));
  if (sensor.hold || sensor.offset_within_ns >= 0 || !lag_in_doubt(usual)) return usual;
  const double usual_s = prior.lag_s.high - prior.lag_s.low;
  prior.lag_s = {prior.lag_s.low - kSearchedS, prior.lag_s.high + kSearchedS};
  Result<Laid> wide = lay_within(series, options, work, span, zone_ns, prior);
  if (!wide) return usual;
  const double times = (prior.lag_s.high - prior.lag_s.low) / usual_s;
  if (!clearly_better(wide->model.fit, usual.model.fit, times)) return usual;
  wide->lag_searched = true;
  return wide;
}

}  // namespace

std::vector<Work> work_of(const Trace& trace, const Links& links, int64_t device) {
  std::vector<Work> work;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const bool busy = is_plain_work(trace.activities.kind[i]);
    const bool here =
        device < 0 || trace.streams[trace.activities.stream[i].index()].device == device;
    if (!busy || !here) continue;
    const OpId op = links.activity_op[i];
    work.push_back(
        {trace.activities.start_ns[i], trace.activities.start_ns[i] + trace.activities.dur_ns[i],
         trace.activities.name[i], op ? trace.ops.name[op.index()] : StringId(0), ActivityId(i)});
  }
  return work;
}

CoveredSpan span_of(const std::vector<Work>& work, const Trace& trace) {
  CoveredSpan span{INT64_MAX, INT64_MIN};
  for (const Work& w : work) {
    span.begin_ns = std::min(span.begin_ns, w.start_ns);
    span.end_ns = std::max(span.end_ns, w.end_ns);
  }
  for (size_t i = 0; i < trace.api_calls.size(); ++i) {
    span.begin_ns = std::min(span.begin_ns, trace.api_calls.start_ns[i]);
    span.end_ns = std::max(span.end_ns, trace.api_calls.start_ns[i] + trace.api_calls.dur_ns[i]);
  }
  return span;
}

std::vector<std::vector<BusySpan>> busy_by_name(const std::vector<Work>& work, size_t most,
                                                int64_t begin_ns) {
  return busy_spans(work, choose_columns(work, most), begin_ns);
}

Result<int64_t> zone_of_log(CoveredSpan log, CoveredSpan trace, const AttributeOptions& options) {
  const CoveredSpan moved{log.begin_ns + options.sensor.offset_ns,
                          log.end_ns + options.sensor.offset_ns};
  if (meet(moved, trace)) return 0;
  const std::vector<int64_t> zones = zones_that_meet(trace, moved);
  if (!options.sensor.local_time || zones.size() != 1) return no_overlap(trace, moved);
  return zones.front();
}

Result<Laid> lay_log(const PowerSeries& series, const AttributeOptions& options,
                     const std::vector<Work>& work, CoveredSpan span) {
  if (series.readings.empty()) return laying_error("the log has no reading");
  const CoveredSpan log{series.readings.front().t_ns + options.sensor.offset_ns,
                        series.readings.back().t_ns + options.sensor.offset_ns};
  if (meet(log, span)) return lay_over(series, options, work, span, 0);
  const std::vector<int64_t> zones = zones_that_meet(span, log);
  if (!options.sensor.local_time || zones.empty()) return no_overlap(span, log);
  std::optional<Laid> best;
  for (const int64_t zone_ns : zones) {
    Result<Laid> laid = lay_over(series, options, work, span, zone_ns);
    if (!laid || !laid->model.fit.follows) continue;
    if (!best || laid->model.fit.explained > best->model.fit.explained) best = *std::move(laid);
  }
  if (!best) return no_overlap(span, log);
  return *std::move(best);
}

}  // namespace assay
