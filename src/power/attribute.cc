#include "power/attribute.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/stats.h"
#include "power/power_classes.h"

namespace assay {
namespace {

constexpr size_t kFewestReadings = 20;
constexpr size_t kReadingsPerClass = 10;
constexpr size_t kMostBlocks = 50;
constexpr int64_t kStandsForPeriods = 4;  // that a reading may stand for; more is a hole in the log

Error attribute_error(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

std::string seconds(int64_t ns) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.3f s", static_cast<double>(ns) * 1e-9);
  return text;
}

// ---- what ran ----

struct Work {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StringId name;
  StringId op;  // of the operator that caused it; 0 = none
  ActivityId activity;
};

std::vector<Work> work_of(const Trace& trace, const Links& links, int64_t device) {
  std::vector<Work> work;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const ActivityKind kind = trace.activities.kind[i];
    const bool busy = kind == ActivityKind::kKernel || kind == ActivityKind::kMemcpy ||
                      kind == ActivityKind::kMemset;
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

// Total time that a set of intervals was active before t, overlaps counted once each: the sum over
// starts before t of (t - start), less the same over ends.
class BusyBefore {
 public:
  void add(int64_t start_ns, int64_t end_ns) {
    starts_.push_back(start_ns);
    ends_.push_back(end_ns);
  }
  void close(int64_t origin_ns) {
    origin_ns_ = origin_ns;
    for (auto [times, sums] : {std::pair(&starts_, &start_sums_), std::pair(&ends_, &end_sums_)}) {
      std::sort(times->begin(), times->end());
      sums->assign(1, 0);
      for (const int64_t t : *times) sums->push_back(sums->back() + (t - origin_ns));
    }
  }
  int64_t at(int64_t t_ns) const {
    return part(starts_, start_sums_, t_ns) - part(ends_, end_sums_, t_ns);
  }
  int64_t between(int64_t from_ns, int64_t to_ns) const { return at(to_ns) - at(from_ns); }

 private:
  int64_t part(const std::vector<int64_t>& times, const std::vector<int64_t>& sums,
               int64_t t_ns) const {
    const auto count = std::lower_bound(times.begin(), times.end(), t_ns) - times.begin();
    return static_cast<int64_t>(count) * (t_ns - origin_ns_) - sums[static_cast<size_t>(count)];
  }
  std::vector<int64_t> starts_, ends_, start_sums_, end_sums_;
  int64_t origin_ns_ = 0;
};

// ---- readings ----

// New values of the sensor: a value that stands for long is taken again every period, because a
// load that does not change is news as well.
struct Readings {
  std::vector<PowerReading> all;    // inside the trace's device work, for the energy
  std::vector<PowerReading> fresh;  // one per update, for the model
  int64_t period_ns = 0;            // median time between new values
};

int64_t update_period(const std::vector<PowerReading>& readings) {
  std::vector<int64_t> gaps;
  size_t last = 0;
  for (size_t i = 1; i < readings.size(); ++i) {
    if (readings[i].power_w == readings[i - 1].power_w) continue;
    if (last > 0) gaps.push_back(readings[i].t_ns - readings[last].t_ns);
    last = i;
  }
  if (gaps.size() < 5) {
    gaps.clear();
    for (size_t i = 1; i < readings.size(); ++i) {
      gaps.push_back(readings[i].t_ns - readings[i - 1].t_ns);
    }
  }
  std::sort(gaps.begin(), gaps.end());
  return gaps.empty() ? 0 : std::llround(quantile_sorted(gaps, 0.5));
}

std::vector<PowerReading> fresh_of(const std::vector<PowerReading>& readings, int64_t period_ns) {
  std::vector<PowerReading> fresh;
  for (const PowerReading& reading : readings) {
    const bool news = fresh.empty() || reading.power_w != fresh.back().power_w ||
                      reading.t_ns - fresh.back().t_ns >= period_ns;
    if (news) fresh.push_back(reading);
  }
  return fresh;
}

struct Span {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

Span span_of(const std::vector<Work>& work, const Trace& trace) {
  Span span{INT64_MAX, INT64_MIN};
  for (const Work& w : work) {
    span.begin_ns = std::min(span.begin_ns, w.start_ns);
    span.end_ns = std::max(span.end_ns, w.end_ns);
  }
  for (size_t i = 0; i < trace.api_calls.size(); ++i) {
    span.begin_ns = std::min(span.begin_ns, trace.api_calls.start_ns[i]);
  }
  return span;
}

// The time that readings stand for: each for the time since the one before it, unless that is so
// long that readings are missing.
class Coverage {
 public:
  Coverage(const std::vector<PowerReading>& readings, int64_t longest_ns) {
    for (size_t i = 1; i < readings.size(); ++i) {
      const Span step{readings[i - 1].t_ns, readings[i].t_ns};
      const int64_t length = step.end_ns - step.begin_ns;
      if (length > longest_ns) {
        ++gaps_;
        gaps_ns_ += length;
        continue;
      }
      joules_ += readings[i].power_w * static_cast<double>(length) * 1e-9;
      if (spans_.empty() || spans_.back().end_ns != step.begin_ns) {
        before_.push_back(covered_ns_);
        spans_.push_back({step.begin_ns, step.begin_ns});
      }
      spans_.back().end_ns = step.end_ns;
      covered_ns_ += length;
    }
  }
  // Covered time within [from, to].
  int64_t inside(int64_t from_ns, int64_t to_ns) const {
    return to_ns > from_ns ? until(to_ns) - until(from_ns) : 0;
  }
  int64_t covered_ns() const { return covered_ns_; }
  int64_t gaps_ns() const { return gaps_ns_; }
  uint64_t gaps() const { return gaps_; }
  double joules() const { return joules_; }

 private:
  int64_t until(int64_t t_ns) const {
    const auto next =
        std::upper_bound(spans_.begin(), spans_.end(), t_ns,
                         [](int64_t t, const Span& span) { return t < span.begin_ns; });
    if (next == spans_.begin()) return 0;
    const auto at = static_cast<size_t>(next - spans_.begin()) - 1;
    return before_[at] + std::min(t_ns, spans_[at].end_ns) - spans_[at].begin_ns;
  }

  std::vector<Span> spans_;      // in order, apart from each other
  std::vector<int64_t> before_;  // covered time before each
  int64_t covered_ns_ = 0;
  int64_t gaps_ns_ = 0;
  uint64_t gaps_ = 0;
  double joules_ = 0;
};

// The longest time that one reading may stand for. Logs that note changes alone have their period
// between new values.
int64_t longest_stand(const Readings& readings) {
  std::vector<int64_t> steps;
  for (size_t i = 1; i < readings.all.size(); ++i) {
    steps.push_back(readings.all[i].t_ns - readings.all[i - 1].t_ns);
  }
  std::sort(steps.begin(), steps.end());
  const int64_t typical = steps.empty() ? 0 : std::llround(quantile_sorted(steps, 0.5));
  return kStandsForPeriods * std::max(typical, readings.period_ns);
}

// What no overlap may come from: a zone of whole quarters of an hour.
std::string zone_hint(Span trace, Span log) {
  constexpr int64_t kQuarter = 900'000'000'000;
  const int64_t apart = trace.begin_ns - log.begin_ns;
  const int64_t quarters = static_cast<int64_t>(
      std::llround(static_cast<double>(apart) / static_cast<double>(kQuarter)));
  const int64_t shift = quarters * kQuarter;
  const bool meets = log.begin_ns + shift < trace.end_ns && log.end_ns + shift > trace.begin_ns;
  if (!meets || quarters == 0 || std::llabs(quarters) > 14 * 4) return "";
  return "; they would with --offset " + std::to_string(shift / 1'000'000'000) +
         ", as if the log were in another time zone";
}

Result<Readings> readings_of(const PowerSeries& series, const AttributeOptions& options,
                             Span span) {
  std::vector<PowerReading> moved = series.readings;
  for (PowerReading& reading : moved) reading.t_ns += options.offset_ns - options.delay_ns;
  Readings readings;
  readings.period_ns = update_period(moved);
  for (const PowerReading& reading : moved) {
    if (reading.t_ns >= span.begin_ns && reading.t_ns <= span.end_ns) {
      readings.all.push_back(reading);
    }
  }
  if (!moved.empty() && readings.all.empty()) {
    const Span log{moved.front().t_ns, moved.back().t_ns};
    return attribute_error(
        "the log and the trace do not overlap: the log spans " + seconds(log.begin_ns) + " to " +
        seconds(log.end_ns) + ", the trace's device work " + seconds(span.begin_ns) + " to " +
        seconds(span.end_ns) + "; --offset SECONDS lays one over the other" + zone_hint(span, log));
  }
  readings.fresh = fresh_of(readings.all, readings.period_ns);
  return readings;
}

// ---- classes ----

struct Classes {
  std::vector<StringId> names;                     // own columns, most time first
  std::unordered_map<uint32_t, size_t> column_of;  // name to column
  size_t others = SIZE_MAX;                        // column of the pool; SIZE_MAX = none
};

Classes choose_classes(const std::vector<Work>& work, const Coverage& covered, size_t most) {
  std::map<uint32_t, int64_t> time;
  for (const Work& w : work) {
    const int64_t inside = covered.inside(w.start_ns, w.end_ns);
    if (inside > 0) time[w.name.value] += inside;
  }
  std::vector<std::pair<int64_t, uint32_t>> order;
  for (const auto& [name, ns] : time) order.emplace_back(-ns, name);
  std::sort(order.begin(), order.end());
  Classes classes;
  const size_t own = order.size() <= most ? order.size() : most - 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t column = std::min(i, own);
    classes.column_of[order[i].second] = column;
    if (i < own) classes.names.push_back(StringId(order[i].second));
  }
  if (order.size() > own) classes.others = own;
  return classes;
}

ShareMatrix shares_of(const std::vector<Work>& work, const Classes& classes,
                      const std::vector<PowerReading>& readings, int64_t window_ns,
                      int64_t origin_ns) {
  const size_t columns = classes.names.size() + (classes.others == SIZE_MAX ? 0 : 1);
  std::vector<BusyBefore> busy(columns);
  for (const Work& w : work) {
    const auto column = classes.column_of.find(w.name.value);
    if (column != classes.column_of.end()) busy[column->second].add(w.start_ns, w.end_ns);
  }
  ShareMatrix matrix;
  for (const PowerReading& reading : readings) matrix.watts.push_back(reading.power_w);
  for (BusyBefore& b : busy) {
    b.close(origin_ns);
    std::vector<double> share;
    for (const PowerReading& reading : readings) {
      share.push_back(static_cast<double>(b.between(reading.t_ns - window_ns, reading.t_ns)) /
                      static_cast<double>(window_ns));
    }
    matrix.columns.push_back(std::move(share));
  }
  return matrix;
}

// ---- energies ----

// Time per group of one thing: energies are linear in the powers, so their intervals follow.
struct Tally {
  std::vector<int64_t> ns;  // per group
  uint64_t count = 0;
  int64_t base_ns = 0;  // time that carries the base power as well

  double joules(const std::vector<double>& powers) const {
    double sum = static_cast<double>(base_ns) * powers[0];
    for (size_t g = 0; g < ns.size(); ++g) sum += static_cast<double>(ns[g]) * powers[g + 1];
    return sum * 1e-9;
  }
};

struct Model {
  ColumnGroups groups;
  std::vector<size_t> group_of;  // per column
  std::vector<double> powers;    // base first
  std::vector<std::vector<double>> draws;

  std::pair<double, double> interval(const Tally& tally) const {
    std::vector<double> values;
    for (const std::vector<double>& draw : draws) values.push_back(tally.joules(draw));
    std::sort(values.begin(), values.end());
    if (values.empty()) return {std::nan(""), std::nan("")};
    return {quantile_sorted(values, 0.025), quantile_sorted(values, 0.975)};
  }
};

EnergyPart part_of(std::string name, const Tally& tally, const Model& model, bool alone) {
  EnergyPart part{.name = std::move(name)};
  part.energy_uj = std::llround(tally.joules(model.powers) * 1e6);
  const auto [low, high] = model.interval(tally);
  part.low_j = low;
  part.high_j = high;
  part.busy_ns = std::accumulate(tally.ns.begin(), tally.ns.end(), int64_t{0});
  part.count = tally.count;
  part.alone = alone;
  return part;
}

// Time by group of everything with one key, inside the covered time of one span.
template <typename Key>
std::map<uint32_t, Tally> tally_by(const std::vector<Work>& work, const Classes& classes,
                                   const Model& model, const Coverage& covered, Span span,
                                   Key&& key) {
  std::map<uint32_t, Tally> tallies;
  for (const Work& w : work) {
    const int64_t inside =
        covered.inside(std::max(w.start_ns, span.begin_ns), std::min(w.end_ns, span.end_ns));
    if (inside <= 0) continue;
    Tally& tally = tallies[key(w)];
    if (tally.ns.empty()) tally.ns.resize(model.groups.groups.size(), 0);
    tally.ns[model.group_of[classes.column_of.at(w.name.value)]] += inside;
    ++tally.count;
  }
  return tallies;
}

void sort_parts(std::vector<EnergyPart>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const EnergyPart& a, const EnergyPart& b) {
    return a.energy_uj != b.energy_uj ? a.energy_uj > b.energy_uj : a.name < b.name;
  });
}

// Rounding to whole microjoules by part: the largest takes the few that are over, so that any two
// ways to cut the same work sum alike.
void settle_rounding(std::vector<EnergyPart>& parts, int64_t total_uj) {
  if (parts.empty()) return;
  int64_t sum = 0;
  for (const EnergyPart& part : parts) sum += part.energy_uj;
  parts.front().energy_uj += total_uj - sum;
}

std::vector<EnergyPart> window_parts(const std::vector<Window>& windows,
                                     const std::vector<std::string>& labels,
                                     const std::vector<Work>& work, const Classes& classes,
                                     const Model& model, const Coverage& covered) {
  std::vector<EnergyPart> parts;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Span span{windows[i].start_ns, windows[i].end_ns};
    const int64_t inside = covered.inside(span.begin_ns, span.end_ns);
    if (inside <= 0) continue;
    auto tallies = tally_by(work, classes, model, covered, span, [](const Work&) { return 0u; });
    Tally tally = tallies.empty() ? Tally{} : std::move(tallies.begin()->second);
    tally.ns.resize(model.groups.groups.size(), 0);
    tally.base_ns = inside;
    parts.push_back(part_of(labels[i], tally, model, true));
  }
  return parts;
}

// Windows of one phase, added up.
std::vector<EnergyPart> phase_parts(const Phases& phases, const std::vector<Work>& work,
                                    const Classes& classes, const Model& model,
                                    const Coverage& covered) {
  std::vector<EnergyPart> parts;
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    Tally sum;
    sum.ns.resize(model.groups.groups.size(), 0);
    for (size_t i = 0; i < phases.windows.windows.size(); ++i) {
      if (phases.phase[i] != phase) continue;
      const Window& window = phases.windows.windows[i];
      const Span span{window.start_ns, window.end_ns};
      const int64_t inside = covered.inside(span.begin_ns, span.end_ns);
      if (inside <= 0) continue;
      sum.base_ns += inside;
      for (const auto& [key, tally] :
           tally_by(work, classes, model, covered, span, [](const Work&) { return 0u; })) {
        for (size_t g = 0; g < sum.ns.size(); ++g) sum.ns[g] += tally.ns[g];
        sum.count += tally.count;
      }
    }
    if (sum.base_ns > 0) {
      parts.push_back(part_of(std::string(phase_name(phase)), sum, model, true));
    }
  }
  return parts;
}

void describe_fit(const ShareMatrix& merged, const Model& model, EnergyReport& report) {
  const size_t n = merged.rows();
  double mean = 0;
  for (const double w : merged.watts) mean += w / static_cast<double>(n);
  double total = 0;
  double left = 0;
  for (size_t i = 0; i < n; ++i) {
    double fitted = model.powers[0];
    for (size_t g = 0; g < merged.columns.size(); ++g) {
      fitted += merged.columns[g][i] * model.powers[g + 1];
    }
    left += (merged.watts[i] - fitted) * (merged.watts[i] - fitted);
    total += (merged.watts[i] - mean) * (merged.watts[i] - mean);
  }
  report.explained = total > 0 ? 1 - left / total : 0;
  const double freedom = static_cast<double>(n) - static_cast<double>(model.powers.size());
  report.residual_w = freedom > 0 ? std::sqrt(left / freedom) : 0;
}

std::pair<double, double> power_interval(const Model& model, size_t term) {
  std::vector<double> values;
  for (const std::vector<double>& draw : model.draws) values.push_back(draw[term]);
  std::sort(values.begin(), values.end());
  if (values.empty()) return {std::nan(""), std::nan("")};
  return {quantile_sorted(values, 0.025), quantile_sorted(values, 0.975)};
}

void list_classes(const Trace& trace, const Classes& classes, const ShareMatrix& merged,
                  const Model& model, EnergyReport& report) {
  for (size_t g = 0; g < model.groups.groups.size(); ++g) {
    PowerClass listed{.names = {}, .steady = model.groups.steady[g]};
    for (const size_t column : model.groups.groups[g]) {
      listed.others = listed.others || column == classes.others;
      listed.names.push_back(column == classes.others
                                 ? std::string("all other kernels")
                                 : std::string(trace.text(classes.names[column])));
    }
    listed.above_idle_w = model.powers[g + 1];
    if (!listed.steady) {
      const auto [low, high] = power_interval(model, g + 1);
      listed.low_w = low;
      listed.high_w = high;
    }
    for (const double share : merged.columns[g]) {
      listed.window_share += share / static_cast<double>(merged.rows());
    }
    report.classes.push_back(std::move(listed));
  }
}

// Time of the trace that no reading stands for: holes in the log, and what lies before and after
// it.
void add_coverage_trust(const Coverage& covered, Span span, TrustNotes& trust) {
  constexpr const char* kEnergies =
      "total_j, base_j, kernels_j, unattributed_j, energy_j, energy_per_token_j, covered_ns";
  if (covered.gaps() > 0) {
    trust.push_back({"log_gaps", covered.gaps(), covered.gaps_ns(), kEnergies,
                     "times in which the log has no reading for more than four of its periods: "
                     "they and what ran in them are left out, so every energy is too low by them"});
  }
  const int64_t outside = span.end_ns - span.begin_ns - covered.covered_ns() - covered.gaps_ns();
  if (outside > 0) {
    trust.push_back({"partial_coverage", 1, outside, kEnergies,
                     "the log begins after the trace's work or ends before it: energies are of the "
                     "covered time alone"});
  }
}

void add_trust(const EnergyReport& report, const Classes& classes, int64_t period_ns,
               TrustNotes& trust) {
  uint64_t merged = 0;
  uint64_t steady = 0;
  for (const PowerClass& c : report.classes) {
    if (c.names.size() > 1) merged += c.names.size();
    if (c.steady) steady += c.names.size();
  }
  if (merged > 0) {
    trust.push_back({"merged_kernels", merged, 0, "energy_j",
                     "kernels that ran alike in every window of the sensor share one power: their "
                     "energies are in proportion to their durations"});
  }
  if (steady > 0) {
    trust.push_back({"steady_kernels", steady, 0, "energy_j, base_w",
                     "kernels whose share of the window never changes cannot be told from what the "
                     "device draws anyway: their energy is in the base"});
  }
  if (classes.others != SIZE_MAX) {
    trust.push_back({"pooled_kernels", classes.column_of.size() - classes.names.size(), 0,
                     "energy_j", "kernels with little time share one power"});
  }
  if (report.window_ns * 10 < period_ns * 9) {
    trust.push_back(
        {"part_time_sensor", report.readings, period_ns - report.window_ns,
         "total_j, unattributed_j",
         "the sensor averages over less than the time between its readings: what runs "
         "in between is not seen, and the measured total takes it to be like the rest"});
  }
  if (report.explained < 0.5) {
    trust.push_back({"unexplained_power", report.readings, 0, "energy_j",
                     "the kernels explain less than half of how the power varies: offset or window "
                     "may be wrong, or something else draws the power"});
  }
}

}  // namespace

Result<EnergyReport> attribute_energy(const Trace& trace, const Links& links,
                                      const Windows& windows, const Phases& phases,
                                      const PowerSeries& series, const AttributeOptions& options) {
  const std::vector<Work> work = work_of(trace, links, options.device);
  if (work.empty()) return attribute_error("the trace has no device work to attribute energy to");
  const Span span = span_of(work, trace);
  ASSAY_TRY_ASSIGN(Readings readings, readings_of(series, options, span));
  EnergyReport report;
  report.window_ns = options.window_ns > 0 ? options.window_ns : readings.period_ns;
  report.window_source = options.window_ns > 0 ? "given" : "interval between new values";
  report.delay_ns = options.delay_ns;
  if (report.window_ns <= 0) {
    return attribute_error("the sensor's window is not known: give it with --window-ms");
  }
  // A window that reaches back before the trace holds work nobody recorded.
  std::erase_if(readings.fresh,
                [&](const PowerReading& r) { return r.t_ns - report.window_ns < span.begin_ns; });
  if (readings.fresh.size() < kFewestReadings) {
    return attribute_error("only " + std::to_string(readings.fresh.size()) +
                           " readings have their window inside the trace's device work of " +
                           seconds(span.end_ns - span.begin_ns) +
                           "; at least 20 are needed: trace longer, or sample faster");
  }
  const Coverage covered(readings.all, longest_stand(readings));
  report.begin_ns = readings.all.front().t_ns;
  report.end_ns = readings.all.back().t_ns;
  report.covered_ns = covered.covered_ns();
  report.readings = readings.fresh.size();

  const size_t most = std::clamp<size_t>(readings.fresh.size() / kReadingsPerClass, 1,
                                         std::max<size_t>(options.classes, 1));
  const Classes classes = choose_classes(work, covered, most);
  const ShareMatrix matrix =
      shares_of(work, classes, readings.fresh, report.window_ns, span.begin_ns);
  Model model;
  model.groups = tell_apart(matrix);
  model.group_of.resize(matrix.columns.size());
  for (size_t g = 0; g < model.groups.groups.size(); ++g) {
    for (const size_t column : model.groups.groups[g]) model.group_of[column] = g;
  }
  const ShareMatrix merged = merge_columns(matrix, model.groups);
  model.powers = fit_powers(merged, model.groups.steady);
  const size_t overlapping =
      readings.period_ns > 0 ? static_cast<size_t>(2 * report.window_ns / readings.period_ns) : 1;
  const size_t block =
      std::max({overlapping, (merged.rows() + kMostBlocks - 1) / kMostBlocks, size_t{1}});
  model.draws =
      bootstrap_powers(merged, model.groups.steady, block, options.bootstrap, options.seed);

  report.base_w = model.powers[0];
  std::tie(report.base_low_w, report.base_high_w) = power_interval(model, 0);
  describe_fit(merged, model, report);
  list_classes(trace, classes, merged, model, report);
  const double covered_s = static_cast<double>(report.covered_ns) * 1e-9;
  const double total_j = covered.joules();
  report.total_uj = std::llround(total_j * 1e6);
  report.mean_w = covered_s > 0 ? total_j / covered_s : 0;
  report.base_uj = std::llround(report.base_w * covered_s * 1e6);
  for (const auto& [name, tally] :
       tally_by(work, classes, model, covered, span, [](const Work& w) { return w.name.value; })) {
    const size_t column = classes.column_of.at(name);
    const bool alone = column != classes.others &&
                       model.groups.groups[model.group_of[column]].size() == 1 &&
                       !model.groups.steady[model.group_of[column]];
    report.kernels.push_back(part_of(std::string(trace.text(StringId(name))), tally, model, alone));
    report.kernels_uj += report.kernels.back().energy_uj;
  }
  sort_parts(report.kernels);
  for (const auto& [op, tally] :
       tally_by(work, classes, model, covered, span, [](const Work& w) { return w.op.value; })) {
    const std::string name = op == 0 ? "(no operator)" : std::string(trace.text(StringId(op)));
    report.operators.push_back(part_of(name, tally, model, true));
  }
  sort_parts(report.operators);
  settle_rounding(report.operators, report.kernels_uj);
  for (const WorkGrouping& grouping : options.groupings) {
    report.groupings.push_back({grouping.key, grouping.title, {}});
    std::vector<EnergyPart>& parts = report.groupings.back().parts;
    for (const auto& [group, tally] :
         tally_by(work, classes, model, covered, span,
                  [&](const Work& w) { return grouping.of_activity[w.activity.index()]; })) {
      parts.push_back(part_of(group == WorkGrouping::kNone ? "(none)" : grouping.names[group],
                              tally, model, true));
    }
    sort_parts(parts);
    settle_rounding(parts, report.kernels_uj);
  }
  report.unattributed_uj = report.total_uj - report.base_uj - report.kernels_uj;
  if (windows.source != WindowSource::kWholeTrace) {
    std::vector<std::string> labels;
    for (const Window& window : windows.windows) labels.push_back(window.name);
    report.iterations = window_parts(windows.windows, labels, work, classes, model, covered);
  }
  report.phases = phase_parts(phases, work, classes, model, covered);
  if (options.tokens > 0) {
    report.energy_per_token_j = total_j / static_cast<double>(options.tokens);
  }
  add_coverage_trust(covered, span, report.trust);
  add_trust(report, classes, readings.period_ns, report.trust);
  return report;
}

}  // namespace assay
