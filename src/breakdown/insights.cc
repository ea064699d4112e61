#include "breakdown/insights.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/memory.h"
#include "base/shift.h"
#include "base/stats.h"
#include "breakdown/waterfall.h"

namespace assay {
namespace {

using Configs = std::vector<ConfigFigures>;

// Minimum effects: smaller ones are not reported, even if significant.
constexpr double kMoreWork = 0.1;       // growth of tokens and of the time of matrix products
constexpr double kHeavy = 0.02;         // share of the kernel time from which an operation is
                                        // considered
constexpr double kFaster = 0.03;        // decrease of an operation's time
constexpr double kStays = 0.1;          // maximum change of a collective's shortest time
constexpr double kGrows = 0.2;          // growth of its median time
constexpr double kOverlapVaries = 0.1;  // ratio, between GPUs or configurations
constexpr double kDurationVaries = 0.03;
constexpr double kLaunchFalls = 0.01;  // decrease of launch time / kernel time
constexpr double kGapsMatter = 0.02;   // of the span
constexpr double kMost = 0.5;
constexpr double kCoresUsed = 0.5;  // physical cores ever used, of all
constexpr uint64_t kLeastGpus = 4;  // minimum for an interval of a correlation

Insight unknown(int number, const char* figure, std::string why, std::string config = {}) {
  return {.number = number,
          .figure = figure,
          .state = InsightState::kUnknown,
          .why = std::move(why),
          .config = std::move(config)};
}

FigureSeries plus(const FigureSeries& a, const FigureSeries& b) {
  if (a.empty()) return b;
  FigureSeries sum = a;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum[i] += b[i];
  return sum;
}

FigureSeries sum_of(const ConfigFigures& config, FigureSeries FigurePart::*field,
                    std::optional<OpType> type) {
  FigureSeries sum;
  for (const FigurePart& part : config.parts) {
    if (part.op_type == type) sum = plus(sum, part.*field);
  }
  return sum;
}

double middle(const FigureSeries& series) {
  FigureSeries finite = block_means(series);
  return finite.empty() ? Insight::kNone : median(std::move(finite));
}

// ---- pairs of configurations, ordered by work ----

struct MoreWork {
  const ConfigFigures* less;
  const ConfigFigures* more;
  double tokens_ratio;
  double products_ratio;
};

// Requires more tokens on the same number of GPUs, and longer matrix products: with tokens alone,
// the work may just be distributed differently over GPUs.
std::optional<MoreWork> more_work(const ConfigFigures& less, const ConfigFigures& more) {
  if (!less.tokens || !more.tokens || less.gpus != more.gpus) return std::nullopt;
  const double tokens_ratio = *more.tokens / *less.tokens;
  if (!(tokens_ratio >= 1 + kMoreWork)) return std::nullopt;
  const Shift products = shift_of_rows(sum_of(less, &FigurePart::dur_each, OpType::kGemm),
                                       sum_of(more, &FigurePart::dur_each, OpType::kGemm));
  if (!products.real() || !(products.change >= kMoreWork * products.a)) return std::nullopt;
  return MoreWork{&less, &more, tokens_ratio, 1 + products.change / products.a};
}

struct WorkOrder {
  std::vector<MoreWork> pairs;
  std::string why;                  // why there are no pairs
  const MoreWork& widest() const {  // requires a pair
    return *std::max_element(pairs.begin(), pairs.end(), [](const MoreWork& a, const MoreWork& b) {
      return a.tokens_ratio < b.tokens_ratio;
    });
  }
};

WorkOrder order_by_work(const Configs& configs) {
  WorkOrder order;
  size_t with_tokens = 0;
  for (const ConfigFigures& config : configs) with_tokens += config.tokens.has_value();
  for (const ConfigFigures& less : configs) {
    for (const ConfigFigures& more : configs) {
      if (const auto pair = more_work(less, more)) order.pairs.push_back(*pair);
    }
  }
  order.why = configs.size() < 2 ? "it takes two configurations"
              : with_tokens < 2  ? "tokens per iteration are not known of two configurations"
                                : "no two configurations on as many GPUs where one has more tokens "
                                  "and significantly longer matrix products";
  return order;
}

// ---- the rules ----

double executions_per_sample(const FigureOp& op, const ConfigFigures& config) {
  const auto samples = static_cast<double>(config.gpus * config.iterations.size());
  return static_cast<double>(op.executions) / samples;
}

struct OpPair {
  const MoreWork* work;
  const FigureOp* less;
  const FigureOp* more;
};

// Operations that do more work for more tokens, equally frequent in both configurations.
std::vector<OpPair> growing_ops(const std::vector<MoreWork>& pairs) {
  std::vector<OpPair> ops;
  for (const MoreWork& pair : pairs) {
    const double kernels_ns = middle(sum_of(*pair.less, &FigurePart::dur_each, std::nullopt));
    for (const FigureOp& less : pair.less->ops) {
      const bool grows = less.name.type == OpType::kGemm || less.name.type == OpType::kAttention;
      if (!grows || less.name.op == "unplaced" || middle(less.dur_each) < kHeavy * kernels_ns)
        continue;
      for (const FigureOp& more : pair.more->ops) {
        if (more.name != less.name) continue;
        const bool as_often =
            executions_per_sample(less, *pair.less) == executions_per_sample(more, *pair.more);
        if (as_often) ops.push_back({&pair, &less, &more});
      }
    }
  }
  return ops;
}

Insight faster_with_more_work(const WorkOrder& order) {
  if (order.pairs.empty()) return unknown(1, "5", order.why);
  const std::vector<OpPair> ops = growing_ops(order.pairs);
  if (ops.empty())
    return unknown(1, "5", "no matrix product or attention is done as often in both");
  const double tail = kShiftTail / static_cast<double>(ops.size());
  Insight found{.number = 1, .figure = "5", .state = InsightState::kNot};
  found.why = "no matrix product or attention takes significantly less time with more work";
  double most = kFaster;
  bool known = false;
  for (const OpPair& op : ops) {
    const Shift shift = shift_of_rows(op.less->dur_each, op.more->dur_each, tail);
    known = known || shift.known;
    if (!shift.real() || shift.change >= -most * shift.a) continue;
    most = -shift.change / shift.a;
    found.state = InsightState::kHolds;
    found.why.clear();
    found.config = op.work->less->name;
    found.other = op.work->more->name;
    found.of = op.less->name.op;
    found.from = middle(op.less->dur_each);
    found.to = middle(op.more->dur_each);
    found.low = shift.low;
    found.high = shift.high;
    found.n = op.work->less->iterations.size();
    found.other_n = op.work->more->iterations.size();
    found.beside_to = op.work->products_ratio;
    found.share = op.work->tokens_ratio;
  }
  return known ? found : unknown(1, "5", "too few iterations for as many operations");
}

const FigureComm* find_comm(const ConfigFigures& config, const std::string& kind) {
  for (const FigureComm& comm : config.comms) {
    if (comm.kind == kind) return &comm;
  }
  return nullptr;
}

Insight collectives_grow_with_iteration(const WorkOrder& order) {
  if (order.pairs.empty()) return unknown(2, "6", order.why);
  const MoreWork& pair = order.widest();
  const Shift span = shift_of_rows(pair.less->span_each, pair.more->span_each);
  Insight found{.number = 2, .figure = "6", .state = InsightState::kNot};
  found.config = pair.less->name;
  found.other = pair.more->name;
  found.n = pair.less->iterations.size();
  found.other_n = pair.more->iterations.size();
  found.why = "no kind of collective has a significantly longer median and the same minimum";
  if (!span.real() || span.change <= 0) {
    found.why = "the iteration does not grow significantly";
    return found;
  }
  found.share = span.change / span.a;
  const double tail =
      kShiftTail / static_cast<double>(std::max<size_t>(1, pair.less->comms.size()));
  double longest = 0;
  for (const FigureComm& less : pair.less->comms) {
    const FigureComm* more = find_comm(*pair.more, less.kind);
    if (more == nullptr) continue;
    const double per_sample = static_cast<double>(less.kernels) * more->dur_ns.samples;
    const double other_per_sample = static_cast<double>(more->kernels) * less.dur_ns.samples;
    const Shift shift = shift_of_rows(less.dur_each, more->dur_each, tail);
    const bool stays = std::abs(more->dur_ns.min - less.dur_ns.min) <= kStays * less.dur_ns.min;
    const double growth = shift.known ? shift.change / shift.a : 0;
    const bool grows = shift.real() && growth >= kGrows && growth >= found.share / 2;
    if (per_sample != other_per_sample || !stays || !grows || shift.change < longest) continue;
    longest = shift.change;
    found.state = InsightState::kHolds;
    found.why.clear();
    found.of = less.kind;
    found.from = middle(less.dur_each);
    found.to = middle(more->dur_each);
    found.low = shift.low;
    found.high = shift.high;
    found.beside_from = less.dur_ns.min;
    found.beside_to = more->dur_ns.min;
  }
  return found;
}

// The longest operation with an overlap that varies between GPUs. The choice does not depend on the
// correlation, which would bias it.
const FigureOp* op_of_varying_overlap(const ConfigFigures& config) {
  const double kernels_ns = middle(sum_of(config, &FigurePart::dur_each, std::nullopt));
  const FigureOp* longest = nullptr;
  for (const FigureOp& op : config.ops) {
    if (op.gpus.size() < kLeastGpus || op.name.op == "unplaced") continue;
    if (middle(op.dur_each) < kHeavy * kernels_ns) continue;
    const auto [least, most] = std::minmax_element(
        op.gpus.begin(), op.gpus.end(),
        [](const auto& a, const auto& b) { return a.overlap_ratio < b.overlap_ratio; });
    if (!(most->overlap_ratio - least->overlap_ratio >= kOverlapVaries)) continue;
    if (longest == nullptr || op.dur_ns.median > longest->dur_ns.median) longest = &op;
  }
  return longest;
}

Insight overlap_varies_over_gpus(const ConfigFigures& config) {
  if (config.gpus < kLeastGpus) {
    return unknown(3, "7", "it takes four GPUs", config.name);
  }
  if (config.comms.empty()) return unknown(3, "7", "no collective in its traces", config.name);
  Insight found{.number = 3, .figure = "7", .state = InsightState::kNot, .config = config.name};
  const FigureOp* op = op_of_varying_overlap(config);
  if (op == nullptr) {
    found.why = "every heavy operation overlaps alike on all GPUs";
    return found;
  }
  std::vector<FigureOpGpu> gpus = op->gpus;
  std::stable_sort(gpus.begin(), gpus.end(), [](const FigureOpGpu& a, const FigureOpGpu& b) {
    return a.overlap_ratio < b.overlap_ratio;
  });
  std::vector<double> overlap;
  std::vector<double> dur;
  for (const FigureOpGpu& gpu : gpus) {
    overlap.push_back(gpu.overlap_ratio);
    dur.push_back(gpu.dur_ns);
  }
  found.of = op->name.op;
  found.n = gpus.size();
  found.share = correlation(overlap, dur);
  found.from = overlap.front();
  found.to = overlap.back();
  found.beside_from = dur.front();
  found.beside_to = dur.back();
  found.gpu_from = gpus.front().gpu;
  found.gpu_to = gpus.back().gpu;
  // Fisher's z-transformation.
  constexpr double kNormal95 = 1.959963984540054;
  const double reach = kNormal95 / std::sqrt(static_cast<double>(gpus.size()) - 3);
  found.low = std::tanh(std::atanh(found.share) - reach);
  found.high = std::tanh(std::atanh(found.share) + reach);
  const bool longer = found.beside_to >= (1 + kDurationVaries) * found.beside_from;
  if (longer && found.low > 0) {
    found.state = InsightState::kHolds;
  } else {
    found.why = "durations over GPUs do not correlate significantly with the overlap";
  }
  return found;
}

// Tests whether a share is smaller in the configuration with more work.
Insight smaller_share(Insight found, const FigureSeries& less, const FigureSeries& more,
                      double least, const std::string& what) {
  const Shift shift = shift_of_rows(less, more);
  found.from = middle(less);
  found.to = middle(more);
  found.low = shift.known ? shift.low : Insight::kNone;
  found.high = shift.known ? shift.high : Insight::kNone;
  if (!shift.known) {
    found.why = "too few iterations";
    return found;
  }
  const bool holds = shift.real() && shift.change <= -least;
  found.state = holds ? InsightState::kHolds : InsightState::kNot;
  if (holds) return found;
  const char* how = !shift.real()      ? " does not fall significantly"
                    : shift.change > 0 ? " grows"
                                       : " hardly falls";
  found.why = what + how;
  return found;
}

Insight of_pair(int number, const char* figure, const MoreWork& pair) {
  Insight found{.number = number, .figure = figure};
  found.config = pair.less->name;
  found.other = pair.more->name;
  found.n = pair.less->iterations.size();
  found.other_n = pair.more->iterations.size();
  found.share = pair.tokens_ratio;
  return found;
}

Insight less_overlap_with_more_work(const WorkOrder& order) {
  if (order.pairs.empty()) return unknown(4, "9", order.why);
  const MoreWork& pair = order.widest();
  if (pair.less->comms.empty() || pair.more->comms.empty())
    return unknown(4, "9", "no collective in its traces");
  return smaller_share(of_pair(4, "9", pair), pair.less->overlap_each, pair.more->overlap_each,
                       kOverlapVaries, "the overlap");
}

FigureSeries launch_share(const ConfigFigures& config) {
  FigureSeries share = sum_of(config, &FigurePart::launch_each, std::nullopt);
  const FigureSeries dur = sum_of(config, &FigurePart::dur_each, std::nullopt);
  for (size_t i = 0; i < share.size(); ++i) share[i] /= dur[i];
  return share;
}

Insight less_launch_with_more_work(const WorkOrder& order) {
  if (order.pairs.empty()) return unknown(6, "4", order.why);
  const MoreWork& pair = order.widest();
  return smaller_share(of_pair(6, "4", pair), launch_share(*pair.less), launch_share(*pair.more),
                       kLaunchFalls, "launch overhead over kernel time");
}

Insight waits_at_the_ends(const ConfigFigures& config) {
  if (config.comms.empty()) return unknown(5, "11", "no collective in its traces", config.name);
  FigureSeries edges;
  FigureSeries comm;
  double gaps_ns = 0;
  double edges_ns = 0;
  double edges_comm_ns = 0;
  double span_ns = 0;
  for (size_t i = 0; i < config.gaps.size(); ++i) {
    const FigureGaps& gap = config.gaps[i];
    gaps_ns += gap.all_ns;
    edges_ns += gap.edges_ns;
    edges_comm_ns += gap.edges_comm_ns;
    span_ns += config.span_each[i];
    edges.push_back(gap.edges_ns / gap.all_ns);
    comm.push_back(gap.edges_comm_ns / gap.edges_ns);
  }
  const MeanInterval of_edges = mean_interval_in_order(few_block_means(edges));
  const MeanInterval of_comm = mean_interval_in_order(few_block_means(comm));
  Insight found{.number = 5, .figure = "11", .state = InsightState::kNot, .config = config.name};
  found.n = config.iterations.size();
  found.from = edges_ns / gaps_ns;
  found.share = edges_comm_ns / edges_ns;
  found.low = std::max(of_edges.low, 0.0);
  found.high = std::min(of_edges.high, 1.0);
  if (!std::isfinite(of_edges.low) || !std::isfinite(of_comm.low)) {
    return unknown(5, "11", "too few iterations", config.name);
  }
  if (gaps_ns < kGapsMatter * span_ns) {
    found.why = "there is hardly any time between kernels";
  } else if (of_edges.low <= kMost) {
    found.why = "most of it is not shown to lie at the ends of an iteration";
  } else if (of_comm.low <= kMost) {
    found.why = "most of it is not shown to be waiting for collectives";
  } else {
    found.state = InsightState::kHolds;
  }
  return found;
}

Insight few_cores_would_do(const ConfigFigures& config) {
  if (config.cores.empty()) {
    return unknown(7, "13", "no log of processor utilisation", config.name);
  }
  if (!std::isfinite(config.cores_used_share))
    return unknown(7, "13", "the log does not record physical cores", config.name);
  std::vector<double> active;
  std::vector<double> needed;
  for (const FigureCores& at : config.cores) {
    if (!(at.least > 0)) continue;  // no core was active
    active.push_back(at.active);
    needed.push_back(at.least);
  }
  std::vector<double> ratios = few_block_means(active);
  const std::vector<double> least = few_block_means(needed);
  for (size_t b = 0; b < ratios.size(); ++b) ratios[b] /= least[b];
  const MeanInterval ratio = mean_interval_in_order(ratios);
  Insight found{.number = 7, .figure = "13", .state = InsightState::kNot, .config = config.name};
  found.n = config.cores.size();
  found.from = median(active);
  found.to = median(needed);
  found.low = ratio.low;
  found.high = ratio.high;
  found.share = config.cores_used_share;
  if (!std::isfinite(ratio.low)) return unknown(7, "13", "too few samples", config.name);
  if (ratio.low <= 2) {
    found.why = "active cores are not shown to be over twice the cores needed";
  } else if (found.share > kCoresUsed) {
    found.why = "most physical cores are used";
  } else {
    found.state = InsightState::kHolds;
  }
  return found;
}

// ---- the waterfall ----

bool is_frequency(const std::string& bar) {
  return bar == waterfall_bar_name(WaterfallBar::kFrequency);
}

// Overheads summed over operations.
std::map<std::string, double> overheads(const std::vector<const FigureWaterfall*>& ops,
                                        bool per_execution) {
  std::map<std::string, double> sums;
  for (const FigureWaterfall* op : ops) {
    for (size_t bar = 1; bar < op->bars_ns.size(); ++bar) {
      const double per = per_execution ? static_cast<double>(op->executions) : 1;
      sums[op->bars_ns[bar].first] += static_cast<double>(op->bars_ns[bar].second) / per;
    }
  }
  return sums;
}

const std::pair<const std::string, double>& largest(const std::map<std::string, double>& bars) {
  return *std::max_element(bars.begin(), bars.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::string lacks_waterfalls(const ConfigFigures& config) {
  return config.no_waterfalls.empty() ? "no counter runs" : config.no_waterfalls;
}

Insight frequency_dominates(const ConfigFigures& config) {
  if (config.waterfalls.empty()) return unknown(8, "15", lacks_waterfalls(config), config.name);
  std::vector<const FigureWaterfall*> ops;
  uint64_t largest_in = 0;
  for (const FigureWaterfall& op : config.waterfalls) {
    ops.push_back(&op);
    largest_in += is_frequency(largest(overheads({&op}, false)).first);
  }
  const std::map<std::string, double> bars = overheads(ops, false);
  const auto& most = largest(bars);
  double all_ns = 0;
  for (const auto& [name, ns] : bars) all_ns += ns;
  Insight found{.number = 8, .figure = "15", .state = InsightState::kNot, .config = config.name};
  found.n = config.waterfalls.size();
  found.from = bars.at(std::string(waterfall_bar_name(WaterfallBar::kFrequency)));
  found.to = all_ns;
  found.share = static_cast<double>(largest_in);
  found.of = most.first;
  const bool holds = is_frequency(most.first) && most.second > 0 && 2 * largest_in > found.n;
  if (holds) {
    found.state = InsightState::kHolds;
  } else {
    found.why = is_frequency(most.first) ? "it is not the largest in most operations"
                                         : "the largest overhead is " + most.first;
  }
  return found;
}

Insight frequency_improves(const ConfigFigures& first, const ConfigFigures& other) {
  std::vector<const FigureWaterfall*> before;
  std::vector<const FigureWaterfall*> after;
  for (const FigureWaterfall& a : first.waterfalls) {
    for (const FigureWaterfall& b : other.waterfalls) {
      if (a.name != b.name) continue;
      before.push_back(&a);
      after.push_back(&b);
    }
  }
  Insight found{.number = 8, .figure = "15", .config = first.name, .other = other.name};
  found.n = before.size();
  found.other_n = after.size();
  if (before.empty()) {
    found.why = "no operation with a waterfall in both";
    return found;
  }
  std::map<std::string, double> fall = overheads(before, true);
  const std::map<std::string, double> from = fall;
  const std::map<std::string, double> to = overheads(after, true);
  double whole = 0;
  for (auto& [name, ns] : fall) {
    ns -= to.at(name);
    whole += ns;
  }
  const auto& most = largest(fall);
  found.of = most.first;
  found.from = from.at(most.first);
  found.to = to.at(most.first);
  found.share = most.second / whole;
  found.state = InsightState::kNot;
  if (whole <= 0) {
    found.why = "overheads do not fall";
  } else if (!is_frequency(most.first) || found.share <= kMost) {
    found.why = "what fell most is " + most.first;
  } else {
    found.state = InsightState::kHolds;
  }
  return found;
}

}  // namespace

std::string_view insight_state_name(InsightState state) {
  switch (state) {
    case InsightState::kHolds:
      return "holds";
    case InsightState::kNot:
      return "not";
    case InsightState::kUnknown:
      break;
  }
  return "unknown";
}

double usual_launch_share(const ConfigFigures& config) { return middle(launch_share(config)); }

std::vector<Insight> find_insights(const Configs& configs) {
  std::vector<Insight> found;
  if (configs.empty()) return found;
  const WorkOrder order = order_by_work(configs);
  const auto each = [&](Insight (*rule)(const ConfigFigures&)) {
    for (const ConfigFigures& config : configs) found.push_back(rule(config));
  };
  found.push_back(faster_with_more_work(order));
  found.push_back(collectives_grow_with_iteration(order));
  each(overlap_varies_over_gpus);
  found.push_back(less_overlap_with_more_work(order));
  each(waits_at_the_ends);
  found.push_back(less_launch_with_more_work(order));
  each(few_cores_would_do);
  each(frequency_dominates);
  for (size_t i = 1; i < configs.size(); ++i) {
    if (configs.front().waterfalls.empty() || configs[i].waterfalls.empty()) continue;
    found.push_back(frequency_improves(configs.front(), configs[i]));
  }
  return found;
}

}  // namespace assay
