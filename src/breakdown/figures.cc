#include "breakdown/figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/numbers.h"
#include "base/stats.h"

namespace assay {
namespace {

using Sample = std::pair<int64_t, int32_t>;  // GPU, iteration

bool computes(const LevelCell& cell) {
  return cell.op_type != OpType::kComm && cell.op_type != OpType::kCopy;
}

double median_or_nan(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  return values.empty() ? kNan : median(std::move(values));
}

// Merges the compute cells of one execution that differ only in type. An operation has the type in
// which it spends most of its time.
std::vector<LevelCell> executions_of(const std::vector<LevelCell>& cells) {
  std::map<std::pair<LevelPhase, uint32_t>, std::map<OpType, int64_t>> times;
  for (const LevelCell& cell : cells) {
    if (computes(cell)) times[{cell.phase, cell.op}][cell.op_type] += cell.sums.dur_ns;
  }
  std::vector<LevelCell> executions;
  for (const LevelCell& cell : cells) {
    if (!computes(cell)) continue;
    const auto& types = times[{cell.phase, cell.op}];
    const OpType type =
        std::max_element(types.begin(), types.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    // Cells are sorted by all their keys, the type last.
    const auto same = [&cell](const LevelCell& other) {
      return std::tie(other.gpu, other.iter, other.phase, other.layer, other.op) ==
             std::tie(cell.gpu, cell.iter, cell.phase, cell.layer, cell.op);
    };
    if (executions.empty() || !same(executions.back())) {
      executions.push_back(cell);
      executions.back().op_type = type;
    } else {
      executions.back().sums.add(cell.sums);
    }
  }
  return executions;
}

// Applies only the conditions on GPU and iteration, which are also valid for spans.
bool in_scope(int64_t gpu, int32_t iter, const std::vector<LevelCondition>& where) {
  std::vector<LevelCondition> some;
  for (const LevelCondition& one : where) {
    if (one.key == LevelKey::kGpu || one.key == LevelKey::kIter) some.push_back(one);
  }
  LevelCell cell;
  cell.gpu = gpu;
  cell.iter = iter;
  return cell_matches(cell, {""}, some);
}

std::vector<LevelCell> cells_of(const JobLevels& job, const std::vector<LevelCondition>& where) {
  std::vector<LevelCell> cells;
  for (const LevelCell& cell : job.cells) {
    if (cell.iter != kNoIteration && cell_matches(cell, job.op_names, where)) cells.push_back(cell);
  }
  return cells;
}

// Converts sums per iteration to means over GPUs, in the order of the figures' iterations.
FigureSeries series_of(const std::map<int32_t, double>& sums, const ConfigFigures& figures) {
  FigureSeries series;
  for (const int32_t iter : figures.iterations) {
    const auto found = sums.find(iter);
    const double sum = found == sums.end() ? 0 : found->second;
    series.push_back(sum / static_cast<double>(figures.gpus));
  }
  return series;
}

// The same for values keyed by GPU and iteration.
template <typename Values, typename Pick>
FigureSeries series_over(const Values& samples, const ConfigFigures& figures, const Pick& pick) {
  std::map<int32_t, double> sums;
  for (const auto& [sample, value] : samples) sums[sample.second] += pick(value);
  return series_of(sums, figures);
}

// Fills the gaps of each iteration. cells: those in the optimizer.
void add_gaps(const JobLevels& job, const FigureOptions& options,
              const std::vector<LevelCell>& cells, ConfigFigures& figures) {
  std::map<int32_t, LevelSums> compute;
  std::map<int32_t, LevelSums> edges;
  for (const LevelSpan& span : job.spans) {
    if (span.iter == kNoIteration || !in_scope(span.gpu, span.iter, options.where)) continue;
    compute[span.iter].add(span.compute);
    edges[span.iter].add(span.first);
  }
  for (const LevelCell& cell : cells) {
    if (computes(cell) && cell.phase == LevelPhase::kOptimizer) edges[cell.iter].add(cell.sums);
  }
  const auto gpus = static_cast<double>(figures.gpus);
  for (const int32_t iter : figures.iterations) {
    const LevelSums& edge = edges[iter];
    figures.gaps.push_back({static_cast<double>(compute[iter].bubble_ns()) / gpus,
                            static_cast<double>(edge.bubble_ns()) / gpus,
                            static_cast<double>(edge.comm_wait_ns) / gpus});
    figures.overlap_each.push_back(compute[iter].overlap_ratio());
  }
}

void add_spans(const JobLevels& job, const FigureOptions& options, ConfigFigures& figures) {
  std::vector<double> spans;
  std::map<int32_t, int64_t> longest;
  std::map<int32_t, double> sums;
  std::set<int64_t> gpus;
  for (const LevelSpan& span : job.spans) {
    if (span.iter == kNoIteration || !in_scope(span.gpu, span.iter, options.where)) continue;
    gpus.insert(span.gpu);
    spans.push_back(static_cast<double>(span.span_ns));
    sums[span.iter] += spans.back();
    int64_t& most = longest[span.iter];
    most = std::max(most, span.span_ns);
  }
  figures.gpus = gpus.size();
  figures.span_ns = figure_box(std::move(spans));
  for (const auto& [iter, span_ns] : longest) figures.iterations.push_back(iter);
  figures.span_each = series_of(sums, figures);
  std::vector<double> tokens;
  std::vector<double> rates;
  for (const JobIteration& iteration : job.iterations) {
    const auto found = longest.find(iteration.iter);
    if (found == longest.end()) continue;
    // All GPUs contribute to the job's throughput, regardless of the filter.
    const auto given =
        options.tokens_per_iteration ? options.tokens_per_iteration : iteration.tokens;
    if (!given || iteration.longest_span_ns <= 0) continue;
    tokens.push_back(static_cast<double>(*given));
    rates.push_back(tokens.back() * 1e9 / static_cast<double>(iteration.longest_span_ns));
  }
  if (!tokens.empty()) figures.tokens = median_or_nan(std::move(tokens));
  figures.tokens_per_s = median_or_nan(std::move(rates));
}

void add_parts(const std::vector<LevelCell>& cells, ConfigFigures& figures) {
  std::map<std::pair<LevelPhase, std::optional<OpType>>, std::map<Sample, LevelSums>> sums;
  for (const LevelCell& cell : cells) {
    if (!computes(cell)) continue;
    const Sample sample(cell.gpu, cell.iter);
    sums[{cell.phase, std::nullopt}][sample].add(cell.sums);
    sums[{cell.phase, cell.op_type}][sample].add(cell.sums);
  }
  for (const auto& [key, samples] : sums) {
    FigurePart part{key.first, key.second, samples.size()};
    std::vector<double> dur;
    std::vector<double> launch;
    std::vector<double> wait;
    for (const auto& [sample, sum] : samples) {
      dur.push_back(static_cast<double>(sum.dur_ns));
      launch.push_back(static_cast<double>(sum.launch_ns));
      wait.push_back(static_cast<double>(sum.comm_wait_ns));
    }
    part.dur_ns = median_or_nan(std::move(dur));
    part.launch_ns = median_or_nan(std::move(launch));
    part.comm_wait_ns = median_or_nan(std::move(wait));
    const auto& of_part = samples;
    const auto each = [&](int64_t LevelSums::*field) {
      return series_over(of_part, figures,
                         [field](const LevelSums& sum) { return static_cast<double>(sum.*field); });
    };
    part.dur_each = each(&LevelSums::dur_ns);
    part.launch_each = each(&LevelSums::launch_ns);
    part.comm_wait_each = each(&LevelSums::comm_wait_ns);
    figures.parts.push_back(part);
  }
}

// The executions of one operation: one cell per GPU, iteration and layer.
struct Executions {
  std::map<Sample, double> per_sample;  // duration
  std::vector<double> overlap;
  std::vector<double> dur;
  LevelSums sums;
  std::map<int64_t, std::pair<uint64_t, LevelSums>> gpus;  // number of executions and their sums
};

FigureOp op_of(const FigureOpName& name, const Executions& found) {
  std::vector<double> durations;
  for (const auto& [sample, dur_ns] : found.per_sample) durations.push_back(dur_ns);
  FigureOp op{name, figure_box(std::move(durations)), found.dur.size()};
  const auto n = static_cast<double>(found.dur.size());
  op.overlap_ratio = found.sums.overlap_ratio();
  op.correlation = correlation(found.overlap, found.dur);
  op.prep_ns = static_cast<double>(found.sums.prep_ns) / n;
  op.call_ns = static_cast<double>(found.sums.call_ns) / n;
  for (const auto& [gpu, of_gpu] : found.gpus) {
    const auto& [executions, sums] = of_gpu;
    op.gpus.push_back({gpu, executions, sums.overlap_ratio(),
                       static_cast<double>(sums.op_dur_ns) / static_cast<double>(executions)});
  }
  return op;
}

void add_ops(const std::vector<LevelCell>& cells, const std::vector<std::string>& op_names,
             ConfigFigures& figures) {
  std::map<FigureOpName, Executions> ops;
  for (const LevelCell& cell : cells) {
    Executions& op = ops[{cell.phase, cell.op_type, op_names[cell.op]}];
    const auto dur_ns = static_cast<double>(cell.sums.op_dur_ns);
    op.per_sample[{cell.gpu, cell.iter}] += dur_ns;
    op.overlap.push_back(cell.sums.overlap_ratio());
    op.dur.push_back(dur_ns);
    op.sums.add(cell.sums);
    auto& [executions, sums] = op.gpus[cell.gpu];
    ++executions;
    sums.add(cell.sums);
  }
  for (const auto& [name, found] : ops) {
    figures.ops.push_back(op_of(name, found));
    figures.ops.back().dur_each =
        series_over(found.per_sample, figures, [](double dur_ns) { return dur_ns; });
  }
}

void add_comms(const std::vector<LevelCell>& cells, const std::vector<std::string>& op_names,
               ConfigFigures& figures) {
  std::map<std::string, std::map<Sample, double>> kinds;
  std::map<std::string, uint64_t> kernels;
  for (const LevelCell& cell : cells) {
    if (cell.op_type != OpType::kComm) continue;
    const std::string& kind = op_names[cell.op];
    kinds[kind][{cell.gpu, cell.iter}] += static_cast<double>(cell.sums.dur_ns);
    kernels[kind] += cell.sums.kernels;
  }
  for (const auto& [kind, samples] : kinds) {
    std::vector<double> durations;
    for (const auto& [sample, dur_ns] : samples) durations.push_back(dur_ns);
    figures.comms.push_back({kind, kernels[kind], figure_box(std::move(durations)),
                             series_over(samples, figures, [](double dur_ns) { return dur_ns; })});
  }
}

void add_layers(const std::vector<LevelCell>& cells, const std::vector<std::string>& op_names,
                ConfigFigures& figures) {
  const std::vector<int32_t>& all = figures.iterations;
  const std::set<int32_t> shown(
      all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(all.size(), kFigureIterations)));
  using Place = std::tuple<FigureOpName, int32_t, int32_t>;
  std::map<Place, std::pair<std::vector<double>, std::vector<double>>> places;
  for (const LevelCell& cell : cells) {
    if (shown.count(cell.iter) == 0) continue;
    auto& [overlap, dur] =
        places[{{cell.phase, cell.op_type, op_names[cell.op]}, cell.iter, cell.layer}];
    overlap.push_back(cell.sums.overlap_ratio());
    dur.push_back(static_cast<double>(cell.sums.op_dur_ns));
  }
  for (auto& [place, found] : places) {
    const auto& [name, iter, layer] = place;
    figures.layers.push_back({name, iter, layer, figure_box(std::move(found.first)),
                              figure_box(std::move(found.second))});
  }
}

bool same_curve(const FigureExecution& a, const FigureExecution& b) {
  return a.gpu == b.gpu && a.name == b.name;
}

// Fills relative and cumulative for one operation on one GPU; executions are sorted by duration.
void normalise(FigureExecution* begin, FigureExecution* end) {
  double total = 0;
  for (const FigureExecution* one = begin; one != end; ++one) total += one->overlap_ratio;
  double sum = 0;
  for (FigureExecution* one = begin; one != end; ++one) {
    one->relative = begin->dur_ns > 0 ? one->dur_ns / begin->dur_ns : kNan;
    sum += one->overlap_ratio;
    one->cumulative = total > 0 ? sum / total : kNan;
  }
}

void add_executions(const std::vector<LevelCell>& cells, const std::vector<std::string>& op_names,
                    ConfigFigures& figures) {
  std::vector<FigureExecution>& all = figures.executions;
  for (const LevelCell& cell : cells) {
    const bool wanted = cell.op_type == OpType::kGemm && cell.phase != LevelPhase::kBackward &&
                        cell.layer != kNoLayer && cell.sums.dur_ns > 0;
    if (!wanted) continue;
    all.push_back({{cell.phase, cell.op_type, op_names[cell.op]},
                   cell.gpu,
                   cell.iter,
                   cell.layer,
                   cell.sums.overlap_ratio(),
                   static_cast<double>(cell.sums.op_dur_ns)});
  }
  std::sort(all.begin(), all.end(), [](const FigureExecution& a, const FigureExecution& b) {
    return std::tie(a.name, a.gpu, a.dur_ns, a.iter, a.layer) <
           std::tie(b.name, b.gpu, b.dur_ns, b.iter, b.layer);
  });
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && same_curve(all[begin], all[end])) ++end;
    normalise(all.data() + begin, all.data() + end);
  }
}

}  // namespace

FigureBox figure_box(std::vector<double> samples) {
  std::erase_if(samples, [](double v) { return !std::isfinite(v); });
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {samples.size(),
          samples.front(),
          quantile_sorted(samples, 0.25),
          quantile_sorted(samples, 0.5),
          quantile_sorted(samples, 0.75),
          samples.back()};
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  // Rounding of the mean gives a constant a tiny nonzero variance.
  const double least = 1e-24 * n;
  const bool constant = xx <= least * mean_x * mean_x || yy <= least * mean_y * mean_y;
  return constant ? kNan : xy / std::sqrt(xx * yy);
}

ConfigFigures config_figures(std::string name, const JobLevels& job, const FigureOptions& options) {
  ConfigFigures figures;
  figures.name = std::move(name);
  figures.ranks = job.ranks;
  figures.placement = job.placement;
  const std::vector<LevelCell> cells = cells_of(job, options.where);
  add_spans(job, options, figures);
  add_gaps(job, options, cells, figures);
  add_parts(cells, figures);
  add_comms(cells, job.op_names, figures);
  const std::vector<LevelCell> executions = executions_of(cells);
  add_ops(executions, job.op_names, figures);
  add_layers(executions, job.op_names, figures);
  add_executions(executions, job.op_names, figures);
  return figures;
}

std::vector<FigureOpName> dominant_ops(const std::vector<ConfigFigures>& configs, LevelPhase phase,
                                       OpType type, size_t most) {
  std::map<std::string, double> total;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) {
      if (op.name.phase == phase && op.name.type == type && op.name.op != "unplaced")
        total[op.name.op] += op.dur_ns.median;
    }
  }
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [op, dur_ns] : total) sorted.emplace_back(-dur_ns, op);
  std::sort(sorted.begin(), sorted.end());
  std::vector<FigureOpName> ops;
  for (size_t i = 0; i < std::min(most, sorted.size()); ++i)
    ops.push_back({phase, type, sorted[i].second});
  return ops;
}

std::optional<FigureOpName> curve_op(const std::vector<ConfigFigures>& configs) {
  std::map<FigureOpName, std::vector<double>> overlaps;
  for (const ConfigFigures& config : configs) {
    for (const FigureExecution& one : config.executions)
      overlaps[one.name].push_back(one.overlap_ratio);
  }
  std::optional<FigureOpName> found;
  double widest = -1;
  for (const auto& [name, ratios] : overlaps) {
    if (name.op == "attn_op" && name.phase != LevelPhase::kRecompute) return name;
    const FigureBox box = figure_box(ratios);
    if (box.p75 - box.p25 <= widest) continue;
    widest = box.p75 - box.p25;
    found = name;
  }
  return found;
}

}  // namespace assay
