#include "diff/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/memory.h"

namespace assay {
namespace {

DiffNoise judge(double change, const ChangeInterval& interval) {
  if (change == 0 && (!interval.known || (interval.low == 0 && interval.high == 0))) {
    return DiffNoise::kNoChange;
  }
  if (!interval.known) return DiffNoise::kUnknown;
  return interval.low <= 0 && interval.high >= 0 ? DiffNoise::kNoise : DiffNoise::kReal;
}

double per_sample(uint64_t count, uint64_t samples) {
  return samples == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(samples);
}

// Rounds half away from zero, so that exchanging the sides flips the sign exactly.
int64_t whole(double ns) { return std::llround(ns); }

// Splits the change of calls x cost per call by factor, each at the mean of the other factor, so
// that exchanging the sides flips the signs. If a side has no calls, the change is all calls.
void split_change(DiffRow& row) {
  const double calls_a = row.a.calls;
  const double calls_b = row.b.calls;
  row.change_ns = row.b.time_ns - row.a.time_ns;
  if (calls_a == 0 || calls_b == 0) {
    const bool counted = calls_a != calls_b;
    row.more_calls_ns = counted ? row.change_ns : 0;
    row.idle_change_ns = counted ? 0 : row.b.idle_ns - row.a.idle_ns;
    row.slower_ns = row.change_ns - row.more_calls_ns - row.idle_change_ns;
    return;
  }
  const double cost_a = static_cast<double>(row.a.time_ns) / calls_a;
  const double cost_b = static_cast<double>(row.b.time_ns) / calls_b;
  const double idle_a = static_cast<double>(row.a.idle_ns) / calls_a;
  const double idle_b = static_cast<double>(row.b.idle_ns) / calls_b;
  row.more_calls_ns = whole((calls_b - calls_a) * ((cost_a + cost_b) / 2));
  row.idle_change_ns = whole((idle_b - idle_a) * ((calls_a + calls_b) / 2));
  row.slower_ns = row.change_ns - row.more_calls_ns - row.idle_change_ns;
}

class LevelComparer {
 public:
  LevelComparer(const DiffSide& a, const DiffSide& b, size_t level, const BlockDraws& draws_a,
                const BlockDraws& draws_b)
      : side_a_(a),
        side_b_(b),
        a_(a.levels[level]),
        b_(b.levels[level]),
        mean_a_(mean_costs(a_, a.samples, a.time_ns)),
        mean_b_(mean_costs(b_, b.samples, b.time_ns)),
        draws_a_(draws_a),
        draws_b_(draws_b) {
    level_.kind = static_cast<DiffLevelKind>(level);
  }

  DiffLevel run(int64_t total_change_ns) {
    const Matching matching = match_items(a_, b_);
    level_.positions_given_up = matching.positions_given_up;
    std::vector<bool> done_a(a_.items.size(), false);
    std::vector<bool> done_b(b_.items.size(), false);
    for (const ItemPair& pair : matching.pairs) {
      done_a[pair.a] = done_b[pair.b] = true;
      add_row(static_cast<int64_t>(pair.a), static_cast<int64_t>(pair.b), pair.match);
    }
    for (size_t i = 0; i < done_a.size(); ++i) {
      if (!done_a[i]) add_row(static_cast<int64_t>(i), -1, DiffMatch::kNone);
    }
    for (size_t i = 0; i < done_b.size(); ++i) {
      if (!done_b[i]) add_row(-1, static_cast<int64_t>(i), DiffMatch::kNone);
    }
    for (DiffRow& row : level_.rows) {
      row.share_of_change = total_change_ns == 0 ? std::nan("")
                                                 : static_cast<double>(row.change_ns) /
                                                       static_cast<double>(total_change_ns);
      count(row);
    }
    sort_rows();
    return std::move(level_);
  }

 private:
  static DiffRowSide row_side(const DiffSideLevel& level, const std::vector<MeanCost>& means,
                              int64_t item, uint64_t samples) {
    DiffRowSide side;
    side.dur_mean_ns = std::nan("");
    if (item < 0) return side;
    const auto i = static_cast<size_t>(item);
    side.name = level.items[i].name;
    side.shown = level.items[i].shown;
    side.calls = per_sample(level.sums[i].calls, samples);
    side.busy_ns = means[i].busy_ns;
    side.idle_ns = means[i].idle_ns;
    side.time_ns = side.busy_ns + side.idle_ns;
    if (level.sums[i].calls > 0) {
      side.dur_mean_ns =
          static_cast<double>(level.sums[i].dur_ns) / static_cast<double>(level.sums[i].calls);
    }
    return side;
  }

  static std::vector<double> deviations(const DiffSide& side, const DiffSideLevel& level,
                                        int64_t item, const BlockDraws& draws) {
    std::vector<double> sums(side.block_samples.size(), 0.0);
    if (item >= 0) {
      for (const BlockCost& block : level.blocks[static_cast<size_t>(item)]) {
        sums[block.block] = static_cast<double>(block.cost.time_ns());
      }
    }
    return draws.deviations(sums, side.block_samples);
  }

  void add_row(int64_t a, int64_t b, DiffMatch match) {
    DiffRow row;
    row.a = row_side(a_, mean_a_, a, side_a_.samples);
    row.b = row_side(b_, mean_b_, b, side_b_.samples);
    row.match = match;
    row.rest =
        a >= 0 ? a_.items[static_cast<size_t>(a)].rest : b_.items[static_cast<size_t>(b)].rest;
    row.kind = a < 0 ? DiffKind::kAppeared : b < 0 ? DiffKind::kVanished : DiffKind::kBoth;
    split_change(row);
    const auto change = static_cast<double>(row.change_ns);
    row.interval = change_interval(change, draws_a_, draws_b_, deviations(side_a_, a_, a, draws_a_),
                                   deviations(side_b_, b_, b, draws_b_));
    row.noise = judge(change, row.interval);
    level_.rows.push_back(std::move(row));
  }

  void count(const DiffRow& row) {
    level_.real += row.noise == DiffNoise::kReal;
    level_.appeared += row.kind == DiffKind::kAppeared;
    level_.vanished += row.kind == DiffKind::kVanished;
    if (row.kind != DiffKind::kBoth) return;
    level_.renamed += row.match != DiffMatch::kName;
    level_.slower += row.change_ns > 0;
    level_.faster += row.change_ns < 0;
    level_.same += row.change_ns == 0;
  }

  // Sort key that does not depend on which side is A.
  static const std::string& sort_name(const DiffRow& row) {
    if (row.a.name.empty()) return row.b.name;
    if (row.b.name.empty()) return row.a.name;
    return std::min(row.a.name, row.b.name);
  }

  void sort_rows() {
    std::sort(level_.rows.begin(), level_.rows.end(), [](const DiffRow& x, const DiffRow& y) {
      const int64_t by_x = std::abs(x.change_ns);
      const int64_t by_y = std::abs(y.change_ns);
      if (by_x != by_y) return by_x > by_y;
      return sort_name(x) < sort_name(y);
    });
  }

  const DiffSide& side_a_;
  const DiffSide& side_b_;
  const DiffSideLevel& a_;
  const DiffSideLevel& b_;
  std::vector<MeanCost> mean_a_;
  std::vector<MeanCost> mean_b_;
  const BlockDraws& draws_a_;
  const BlockDraws& draws_b_;
  DiffLevel level_;
};

DiffSideMetric time_of(const DiffSide& side) {
  DiffSideMetric time;
  time.key = "time_ns";
  time.label = "time per iteration";
  time.mean = static_cast<double>(side.time_ns);
  time.n = side.iterations;
  for (int64_t sum : side.block_times) time.block_sums.push_back(static_cast<double>(sum));
  time.block_counts = side.block_samples;
  return time;
}

// Widening draws negative means of times and counts. An interval that is shown has none, but what
// is significant is decided before: an end at exactly 0 would be a matter of rounding.
void end_at_zero(double mean, std::vector<double>& deviations) {
  if (mean < 0) return;
  for (double& deviation : deviations) deviation = std::max(deviation, -mean);
}

// resampled: false if the blocks do not contain all of the metric's variation; it then has no
// interval.
DiffMetric compare_metric(const DiffSideMetric& a, const DiffSideMetric& b,
                          const BlockDraws& draws_a, const BlockDraws& draws_b,
                          bool resampled = true) {
  DiffMetric metric;
  metric.key = a.key;
  metric.label = a.label;
  metric.unit = a.unit;
  metric.a = a.mean;
  metric.b = b.mean;
  metric.n_a = a.n;
  metric.n_b = b.n;
  metric.change = b.mean - a.mean;
  metric.change_share = a.mean == 0 ? std::nan("") : metric.change / std::abs(a.mean);
  if (!std::isfinite(metric.change) && !std::isfinite(b.mean)) return metric;
  std::vector<double> b_deviations = draws_b.deviations(b.block_sums, b.block_counts);
  if (b.n >= 2 && resampled) metric.b_interval = level_interval(b.mean, draws_b, b_deviations);
  if (!std::isfinite(metric.change)) return metric;
  if (a.n >= 2 && b.n >= 2 && resampled) {
    std::vector<double> a_deviations = draws_a.deviations(a.block_sums, a.block_counts);
    metric.interval = change_interval(metric.change, draws_a, draws_b, a_deviations, b_deviations);
    metric.noise = judge(metric.change, metric.interval);
    end_at_zero(a.mean, a_deviations);
    end_at_zero(b.mean, b_deviations);
    metric.interval = change_interval(metric.change, draws_a, draws_b, a_deviations, b_deviations);
    metric.share_interval =
        relative_interval(a.mean, metric.change, draws_a, draws_b, a_deviations, b_deviations);
    return metric;
  }
  metric.noise = judge(metric.change, metric.interval);
  return metric;
}

std::vector<DiffMetric> compare_metrics(const DiffSide& a, const DiffSide& b,
                                        const BlockDraws& draws_a, const BlockDraws& draws_b) {
  std::vector<DiffMetric> metrics = {compare_metric(time_of(a), time_of(b), draws_a, draws_b)};
  const auto find = [](const DiffSide& side, const std::string& key) {
    return std::find_if(side.metrics.begin(), side.metrics.end(),
                        [&](const DiffSideMetric& m) { return m.key == key; });
  };
  for (const DiffSideMetric& metric : a.metrics) {
    const auto other = find(b, metric.key);
    if (other == b.metrics.end()) continue;
    const bool one_run =
        a.block_kind == BlockKind::kIterations || b.block_kind == BlockKind::kIterations;
    metrics.push_back(
        compare_metric(metric, *other, draws_a, draws_b, !(metric.per_run && one_run)));
  }
  return metrics;
}

// The time per iteration of each block.
std::vector<double> times_of_blocks(const DiffSide& side) {
  std::vector<double> means;
  for (size_t i = 0; i < side.block_times.size(); ++i) {
    if (side.block_samples[i] == 0) continue;
    means.push_back(static_cast<double>(side.block_times[i]) /
                    static_cast<double>(side.block_samples[i]));
  }
  return means;
}

std::vector<DiffPair> pairs_of(const DiffSide& a, const DiffSide& b) {
  const std::vector<double> from = times_of_blocks(a);
  const std::vector<double> to = times_of_blocks(b);
  std::vector<DiffPair> pairs;
  for (size_t i = 0; i < from.size(); ++i)
    pairs.push_back({a.repeat_files[i], b.repeat_files[i], whole(from[i]), whole(to[i])});
  return pairs;
}

DiffSideFacts facts_of(const DiffSide& side, double memory) {
  std::vector<double> times = times_of_blocks(side);
  if (times.empty()) times = {0};
  const auto [fastest, slowest] = std::minmax_element(times.begin(), times.end());
  const auto iterations = static_cast<double>(side.iterations);
  return {.runs = side.runs,
          .repeats = side.repeats,
          .iterations = side.iterations,
          .samples = side.samples,
          .blocks = side.block_samples.size(),
          .block_kind = side.block_kind,
          .independent = side.iterations == 0 ? 0 : std::max(1.0, iterations / (memory * memory)),
          .time_ns = side.time_ns,
          .fastest_ns = whole(*fastest),
          .slowest_ns = whole(*slowest)};
}

// Deviations of a side's mean time over all resamples, and the widening included for correlation.
struct DrawnTime {
  double memory = 1;
  std::vector<double> deviations;
};
DrawnTime drawn_time(const DiffSide& side, const BlockDraws& draws) {
  const DiffSideMetric time = time_of(side);
  return {draws.memory(time.block_sums, time.block_counts),
          draws.deviations(time.block_sums, time.block_counts)};
}

std::vector<double> without_memory(DrawnTime drawn) {
  for (double& deviation : drawn.deviations) deviation /= drawn.memory;
  return std::move(drawn.deviations);
}

// Shift of the time per iteration. The interval leaves out `tail` at each end.
Shift typical_shift(const DiffSide& a, const DiffSide& b, bool paired, double tail) {
  const std::vector<double> from = times_of_blocks(a);
  const std::vector<double> to = times_of_blocks(b);
  if (paired) return shift_of_pairs(from, to, tail);
  const auto memory = [](const DiffSide& side, const std::vector<double>& times) {
    return side.block_kind == BlockKind::kRuns ? 1 : rank_memory_widening(times);
  };
  return shift_between(from, to, tail, memory(a, from), memory(b, to));
}

}  // namespace

std::string_view diff_noise_name(DiffNoise noise) {
  switch (noise) {
    case DiffNoise::kNoChange:
      return "no_change";
    case DiffNoise::kReal:
      return "real";
    case DiffNoise::kNoise:
      return "noise";
    case DiffNoise::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view diff_kind_name(DiffKind kind) {
  switch (kind) {
    case DiffKind::kBoth:
      return "both";
    case DiffKind::kAppeared:
      return "appeared";
    case DiffKind::kVanished:
      break;
  }
  return "vanished";
}

std::string no_pairs(const DiffSide& a, const DiffSide& b) {
  if (a.repeats < 2 || a.repeats != b.repeats) {
    return "pairs need as many runs in A as in B, two or more: A has " + std::to_string(a.repeats) +
           ", B " + std::to_string(b.repeats);
  }
  for (const DiffSide* side : {&a, &b}) {
    for (size_t i = 0; i < side->block_samples.size(); ++i) {
      if (side->block_samples[i] == 0) return side->repeat_files[i] + " has no work on a device";
    }
  }
  return "";
}

DiffReport compare_sides(const DiffSide& a, const DiffSide& b, const Resampling& options) {
  DiffReport report;
  report.resampling = options;
  report.change_ns = b.time_ns - a.time_ns;
  const BlockDraws draws_a =
      options.paired ? BlockDraws::of_pairs(a, b, options) : BlockDraws(a, options);
  const BlockDraws draws_b = options.paired ? draws_a : BlockDraws(b, options);
  const DrawnTime time_a = drawn_time(a, draws_a);
  const DrawnTime time_b = drawn_time(b, draws_b);
  report.a = facts_of(a, time_a.memory);
  report.b = facts_of(b, time_b.memory);
  report.metrics = compare_metrics(a, b, draws_a, draws_b);
  report.time = report.metrics.front();
  const auto change = static_cast<double>(report.change_ns);
  const ChangeInterval by_itself =
      change_interval(change, draws_a, draws_b, without_memory(time_a), without_memory(time_b));
  constexpr double kSureTail = 0.005;
  report.typical = typical_shift(a, b, options.paired, kShiftTail);
  report.hidden_by_few = report.time.noise == DiffNoise::kNoise &&
                         typical_shift(a, b, options.paired, kSureTail).real();
  report.too_few_independent = report.time.noise == DiffNoise::kNoise && !report.hidden_by_few &&
                               judge(change, by_itself) == DiffNoise::kReal;
  report.apart =
      report.too_few_independent && !options.paired &&
      (report.a.slowest_ns < report.b.fastest_ns || report.b.slowest_ns < report.a.fastest_ns);
  if (options.paired) report.pairs = pairs_of(a, b);
  for (size_t level = 0; level < kDiffLevels; ++level) {
    report.levels[level] = LevelComparer(a, b, level, draws_a, draws_b).run(report.change_ns);
  }
  return report;
}

}  // namespace assay
