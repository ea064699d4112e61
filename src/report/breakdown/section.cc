#include "report/breakdown/section.h"
#include "findings/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/numbers.h"
#include "flow/contributor_names.h"
#include "report/breakdown/evidence.h"
#include "report/breakdown/job.h"
#include "report/breakdown/results.h"
#include "report/breakdown/telemetry.h"
#include "report/flow/section.h"
#include "text/names.h"

namespace assay {
namespace {

Value layer_value(int32_t layer) { return layer == kNoLayer ? Value() : Value(layer); }
Value iter_value(int32_t iter) { return iter == kNoIteration ? Value() : Value(iter); }

LevelSums total_of(const JobLevels& job) {
  LevelSums total;
  for (const JobGpu& gpu : job.gpus) total.add(gpu.compute);
  return total;
}

int64_t span_of(const JobLevels& job) {
  int64_t span_ns = 0;
  for (const JobGpu& gpu : job.gpus) span_ns += gpu.span_ns;
  return span_ns;
}

// A sum of any row type.
auto sum_of(int64_t LevelSums::*field) {
  return [field](const auto& row) { return row.sums.*field; };
}

// Adds columns for a row's `sums`. Readers see the most important ones.
template <typename R>
void add_sums(TableOf<R>& table, bool readers) {
  const Show detail = shown_if(!readers);
  table.add(keys::kernels, [](const R& row) { return row.sums.kernels; })
      .add(
          keys::activities, [](const R& row) { return row.sums.activities; }, Show::kDataOnly)
      .add(keys::dur_ns, sum_of(&LevelSums::dur_ns))
      .add(keys::prep_ns, sum_of(&LevelSums::prep_ns), detail)
      .add(keys::call_ns, sum_of(&LevelSums::call_ns), detail)
      .add(keys::launch_ns, sum_of(&LevelSums::launch_ns))
      .add(keys::comm_wait_ns, sum_of(&LevelSums::comm_wait_ns))
      .add(keys::comm_in_gap_ns, sum_of(&LevelSums::comm_alone_ns), Show::kDataOnly)
      .add(keys::copy_ns, sum_of(&LevelSums::copy_ns), Show::kDataOnly)
      .add(keys::idle_other_ns, sum_of(&LevelSums::other_idle_ns))
      .add(keys::overlap_ns, sum_of(&LevelSums::overlap_ns), detail)
      .add(keys::overlap_ratio, [](const R& row) { return row.sums.overlap_ratio(); })
      .add(keys::likeness_ns, sum_of(&LevelSums::likeness_ns), Show::kDataOnly);
}

Table rows_table(const JobLevels& job) {
  using Cell = LevelCell;
  TableOf table(job.cells, {.key = "rows", .show = Show::kDataOnly});
  table.add(keys::gpu, &Cell::gpu)
      .add(keys::iter, [](const Cell& c) { return iter_value(c.iter); })
      .add(keys::phase, [](const Cell& c) { return level_phase_name(c.phase); })
      .add(keys::layer, [](const Cell& c) { return layer_value(c.layer); })
      .add(keys::op, [&](const Cell& c) { return job.op_names[c.op]; })
      .add(keys::op_type, [](const Cell& c) { return op_type_name(c.op_type); });
  add_sums(table, false);
  return table;
}

// ---- tree: job, phase, layers, operation, kernel ----

struct Node {
  std::string label;
  std::string kind;
  LevelSums sums;
  std::vector<Node> children;
};

// A node with its depth.
struct Laid {
  uint32_t depth = 0;
  std::string label;
  std::string kind;
  double share = 0;
  LevelSums sums;
};

std::string stack_words(const LayerStack& stack) {
  return stack.name.empty() ? "labels" : stack.name;
}

class TreeMaker {
 public:
  TreeMaker(const JobLevels& job, double min_share) : job_(job), min_share_(min_share) {}

  Tree make() {
    Node root{root_label(), "job", {}, {}};
    std::map<LevelPhase, std::map<int32_t, std::map<uint32_t, Node>>> sorted;
    std::map<std::pair<LevelPhase, int32_t>, std::set<int32_t>> layers;
    for (const LevelKernelCell& cell : job_.kernels) {
      Node& op = sorted[cell.phase][cell.stack][cell.op];
      op.label = job_.op_names[cell.op];
      op.kind = "operation";
      op.sums.add(cell.sums);
      op.children.push_back({cell.kernel, "kernel", cell.sums, {}});
    }
    for (const LevelCell& cell : job_.cells) {
      const int32_t stack = stack_of(job_.stacks, cell.layer);
      if (stack != kNoStack) layers[{cell.phase, stack}].insert(cell.layer);
    }
    for (auto& [phase, sides] : sorted) {
      Node phase_node{
          std::string(phase == LevelPhase::kNone ? "phase not known" : level_phase_name(phase)),
          "phase",
          {},
          {}};
      for (auto& [stack, ops] : sides) {
        const std::string label = stack == kNoStack ? std::string("outside layers")
                                                    : layer_words(stack, layers[{phase, stack}]);
        Node side{label, "layer", {}, {}};
        for (auto& [op, node] : ops) {
          side.sums.add(node.sums);
          side.children.push_back(std::move(node));
        }
        phase_node.sums.add(side.sums);
        phase_node.children.push_back(std::move(side));
      }
      root.sums.add(phase_node.sums);
      root.children.push_back(std::move(phase_node));
    }
    total_ns_ = weight(root);
    lay_out(root, 0);
    TableOf cells(laid_out_, {});
    cells.add(keys::kind, &Laid::kind, Show::kDataOnly).add(keys::share, &Laid::share);
    add_sums(cells, true);
    Tree tree{.key = "tree",
              .title = "Time breakdown (iterations > phase > layers > operation > kernel)",
              .columns = std::move(cells.columns),
              .area_key = "dur_ns"};
    for (size_t i = 0; i < laid_out_.size(); ++i) {
      tree.nodes.push_back(
          {laid_out_[i].depth, std::move(laid_out_[i].label), std::move(cells.rows[i])});
    }
    return tree;
  }

 private:
  static std::string words(size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  }
  // The root contains all activities, including those of iterations without a recorded start.
  std::string root_label() const {
    const size_t told = iterations();
    const bool others =
        std::any_of(job_.spans.begin(), job_.spans.end(),
                    [](const LevelSpan& span) { return span.iter == kNoIteration; });
    if (told == 0 && job_.window_source != WindowSource::kWholeTrace) {
      return "work outside of the iterations on " + words(job_.gpus.size(), "GPU");
    }
    const char* outside = told == 1 ? " and work outside of it" : " and work outside of them";
    const std::string whole = job_.window_source == WindowSource::kWholeTrace
                                  ? "the whole trace"
                                  : words(told, "iteration") + (others && told > 0 ? outside : "");
    return fmt::format("{} on {}", whole, words(job_.gpus.size(), "GPU"));
  }
  size_t iterations() const {
    std::set<int32_t> seen;
    for (const LevelSpan& span : job_.spans) {
      if (span.iter != kNoIteration) seen.insert(span.iter);
    }
    return seen.size();
  }
  // A single stack is described by its layer numbers. Several are described by name, with numbers
  // within the stack and overall.
  std::string layer_words(int32_t stack, const std::set<int32_t>& layers) const {
    if (layers.empty()) return "layers";
    const int32_t low = *layers.begin();
    const int32_t high = *layers.rbegin();
    if (job_.stacks.size() < 2) {
      if (layers.size() == 1) return fmt::format("layer {}", low);
      return fmt::format("{} layers ({} to {})", layers.size(), low, high);
    }
    const LayerStack& own = job_.stacks[static_cast<size_t>(stack)];
    const std::string name = stack_words(own);
    if (layers.size() == 1) return fmt::format("{}[{}] (layer {})", name, low - own.first, low);
    return fmt::format("{}[{}..{}] ({} layers, {} to {})", name, low - own.first, high - own.first,
                       layers.size(), low, high);
  }
  // Device time, which is additive over the tree. Launch overhead and waits have columns of their
  // own.
  static int64_t weight(const Node& node) { return node.sums.dur_ns; }
  void emit(const Node& node, uint32_t depth) {
    laid_out_.push_back({depth, node.label, node.kind, share(weight(node), total_ns_), node.sums});
  }
  void lay_out(Node& node, uint32_t depth) {
    emit(node, depth);
    std::stable_sort(node.children.begin(), node.children.end(),
                     [](const Node& a, const Node& b) { return weight(a) > weight(b); });
    // An operation with a single kernel has no child node.
    if (node.kind == "operation" && node.children.size() == 1) return;
    Node rest{"", "rest", {}, {}};
    size_t merged = 0;
    for (Node& child : node.children) {
      const double of_total = share(weight(child), total_ns_);
      if (of_total >= min_share_ || (depth == 0 && child.kind == "phase")) {
        lay_out(child, depth + 1);
        continue;
      }
      rest.sums.add(child.sums);
      ++merged;
    }
    if (merged == 0 || merged == node.children.size()) return;
    rest.label = fmt::format("{} smaller", merged);
    emit(rest, depth + 1);
  }

  const JobLevels& job_;
  const double min_share_;
  int64_t total_ns_ = 0;
  std::vector<Laid> laid_out_;
};

// ---- tables ----

// A sum over the compute kernels of a span or GPU.
auto compute_of(int64_t LevelSums::*field) {
  return [field](const auto& row) { return row.compute.*field; };
}

Table iterations_table(const std::vector<LevelSpan>& spans) {
  using Span = LevelSpan;
  constexpr Show kData = Show::kDataOnly;
  const bool any_tokens = std::any_of(spans.begin(), spans.end(),
                                      [](const Span& span) { return span.tokens.has_value(); });
  TableOf table(spans,
                {.key = "iterations",
                 .title = "Iterations: kernels and what lies between them add up to the span",
                 .terminal_limit = 16});
  table.add(keys::gpu, &Span::gpu)
      .add(keys::iter, [](const Span& span) { return iter_value(span.iter); })
      .add(keys::kernels, [](const Span& span) { return span.compute.kernels; })
      .add(keys::span_ns, &Span::span_ns)
      .add(keys::dur_ns, compute_of(&LevelSums::dur_ns))
      .add(keys::overlapping_kernels_ns, compute_of(&LevelSums::concurrent_ns), kData)
      .add(keys::prep_ns, compute_of(&LevelSums::prep_ns))
      .add(keys::call_ns, compute_of(&LevelSums::call_ns))
      .add(keys::launch_ns, compute_of(&LevelSums::launch_ns), kData)
      .add(keys::copy_ns, compute_of(&LevelSums::copy_ns))
      .add(keys::comm_wait_ns, compute_of(&LevelSums::comm_wait_ns))
      .add(keys::comm_in_gap_ns, compute_of(&LevelSums::comm_alone_ns), kData)
      .add(keys::idle_other_ns, compute_of(&LevelSums::other_idle_ns))
      .add(keys::comm_kernels, &Span::comm_kernels, kData)
      .add(keys::comm_ns, &Span::comm_ns)
      .add(keys::exposed_comm_ns, &Span::exposed_comm_ns)
      .add(keys::tokens, &Span::tokens, kData)
      .add(keys::tokens_per_s, &Span::tokens_per_s, shown_if(any_tokens));
  return table;
}

// Totals of the job: the ranks of a tensor-parallel group count their tokens once.
Table job_table(const JobLevels& job, const std::vector<JobIteration>& iterations) {
  using Iteration = JobIteration;
  TableOf table(iterations,
                {.key = "job", .title = "Throughput of the job", .terminal_limit = 8});
  table.add(keys::iter, &Iteration::iter)
      .add(keys::tokens, &Iteration::tokens)
      .add(keys::longest_span_ns, &Iteration::longest_span_ns)
      .add(keys::tokens_per_s, &Iteration::tokens_per_s);
  const bool any = std::any_of(iterations.begin(), iterations.end(),
                               [](const Iteration& one) { return one.tokens.has_value(); });
  if (!any || job.gpus.size() < 2) table.show = Show::kDataOnly;
  return table;
}

Table gpus_table(const JobLevels& job) {
  using Gpu = JobGpu;
  constexpr Show kData = Show::kDataOnly;
  const bool closes = job.definition == LevelDefinition::kAssay;
  const auto closure = [closes](const Gpu& g) { return closes ? Value(g.closure_ns) : Value(); };
  const auto slowest = [](const Gpu& g) {
    return g.slowest_op.empty() ? Value() : Value(g.slowest_op);
  };
  TableOf table(job.gpus, {.key = "gpus", .title = "GPUs", .terminal_limit = 32});
  table.add(keys::gpu, &Gpu::gpu)
      .add(keys::rank, &Gpu::rank, kData)
      .add(keys::device, &Gpu::device, kData)
      .add(keys::file, &Gpu::file, kData)
      .add(keys::token_group, &Gpu::token_group, kData)
      .add(keys::kernels, [](const Gpu& g) { return g.compute.kernels; })
      .add(keys::span_ns, &Gpu::span_ns)
      .add(keys::dur_ns, compute_of(&LevelSums::dur_ns))
      .add(keys::overlapping_kernels_ns, compute_of(&LevelSums::concurrent_ns), kData)
      .add(keys::launch_ns, compute_of(&LevelSums::launch_ns))
      .add(keys::comm_wait_ns, compute_of(&LevelSums::comm_wait_ns))
      .add(keys::comm_in_gap_ns, compute_of(&LevelSums::comm_alone_ns), kData)
      .add(keys::copy_ns, compute_of(&LevelSums::copy_ns), kData)
      .add(keys::idle_other_ns, compute_of(&LevelSums::other_idle_ns))
      .add(keys::comm_ns, &Gpu::comm_ns)
      .add(keys::exposed_comm_ns, &Gpu::exposed_comm_ns)
      .add(keys::closure_ns, closure, kData)
      .add(keys::comm_outside_ns, &Gpu::comm_outside_ns, kData)
      .add(keys::copy_outside_ns, &Gpu::copy_outside_ns, kData)
      .add(keys::compute_ratio, &Gpu::compute_ratio)
      .add(keys::slowest_op, slowest, elastic())
      .add(keys::slowest_op_ratio, &Gpu::slowest_op_ratio);
  if (job.gpus.size() < 2) table.show = kData;
  return table;
}

// An operation in a phase, summed over GPUs, iterations and layers.
struct PhaseOp {
  LevelPhase phase;
  uint32_t op;
  LevelSums sums;
};

// Operations by the time that they overlap with collectives.
Table overlap_table(const JobLevels& job) {
  std::map<std::pair<LevelPhase, uint32_t>, LevelSums> sums;
  for (const LevelCell& cell : job.cells) {
    if (cell.op_type != OpType::kComm) sums[{cell.phase, cell.op}].add(cell.sums);
  }
  std::vector<PhaseOp> ops;
  for (const auto& [key, sum] : sums) ops.push_back({key.first, key.second, sum});
  std::stable_sort(ops.begin(), ops.end(), [](const PhaseOp& a, const PhaseOp& b) {
    return a.sums.overlap_ns > b.sums.overlap_ns;
  });
  TableOf table(
      ops,
      {.key = "overlap", .title = "Operations overlapped with collectives", .terminal_limit = 12});
  table.add(keys::phase, [](const PhaseOp& o) { return level_phase_name(o.phase); })
      .add(
          keys::op, [&](const PhaseOp& o) { return job.op_names[o.op]; }, elastic())
      .add(keys::kernels, [](const PhaseOp& o) { return o.sums.kernels; })
      .add(keys::dur_ns, sum_of(&LevelSums::dur_ns))
      .add(keys::op_dur_ns, sum_of(&LevelSums::op_dur_ns))
      .add(keys::overlap_ns, sum_of(&LevelSums::overlap_ns))
      .add(keys::overlap_ratio, [](const PhaseOp& o) { return o.sums.overlap_ratio(); });
  if (ops.empty() || ops.front().sums.overlap_ns <= 0) table.show = Show::kDataOnly;
  return table;
}

Table arrivals_table(const std::vector<Arrivals>& arrivals, bool by_kind) {
  TableOf table(arrivals,
                {.key = by_kind ? "arrivals" : "stragglers",
                 .title = by_kind ? "Last arrivals by collective" : "Last arrivals at collectives",
                 .show = shown_if(!by_kind && !arrivals.empty())});
  table.add(keys::gpu, &Arrivals::gpu);
  if (by_kind) {
    table.add(keys::phase, [](const Arrivals& one) { return level_phase_name(one.phase); })
        .add(keys::collective, &Arrivals::kind);
  }
  table.add(keys::collectives, &Arrivals::collectives)
      .add(keys::last, &Arrivals::last)
      .add(keys::last_share,
           [](const Arrivals& one) {
             return static_cast<double>(one.last) / static_cast<double>(one.collectives);
           })
      .add_ns(keys::arrival_median_ns, &Arrivals::lag_median_ns)
      .add(keys::waited_ns, &Arrivals::waited_ns)
      .add(keys::arrival_margin_ns, &Arrivals::last_margin_ns);
  return table;
}

void add_alignment(const JobLevels& job, Section& section) {
  const Alignment& alignment = job.alignment;
  const bool any = alignment.used > 0;
  Facts facts{
      .key = "alignment",
      .title = "Clocks, aligned on collectives",
      .items = {fact(keys::ranks, job.ranks), fact(keys::collectives_matched, alignment.matched),
                fact(keys::collectives_unmatched, alignment.unmatched),
                fact(keys::collectives_aligned, alignment.used),
                fact(keys::residual_p50_ns, any ? whole_ns(alignment.residual_p50_ns) : Value()),
                fact(keys::residual_p95_ns, any ? whole_ns(alignment.residual_p95_ns) : Value()),
                fact(keys::residual_max_ns, any ? whole_ns(alignment.residual_max_ns) : Value())}};
  TableOf offsets(alignment.offsets, {.key = "clock_offsets",
                                      .title = "Clock of each GPU against the common one",
                                      .show = Show::kDataOnly});
  offsets.add(keys::gpu, &ClockOffset::gpu)
      .add(keys::offset_ns, &ClockOffset::offset_ns)
      .add(keys::collectives, &ClockOffset::collectives);
  if (job.ranks < 2) facts.show = Show::kDataOnly;
  section.blocks.push_back(std::move(facts));
  section.blocks.push_back(std::move(offsets));
}

// Counts by source of the attribution, or by reason if unattributed. The first entry is neither and
// is skipped.
template <typename Counts, typename Name>
Table placements_table(const Counts& counts, const PlacementStats& stats, const ResultKey& what,
                       const Name& name, bool sure) {
  std::vector<size_t> used;
  for (size_t i = 1; i < std::size(counts); ++i) {
    if (counts[i].activities > 0) used.push_back(i);
  }
  TableOf table(used, {});
  table.add(what, name);
  if (sure) {
    table.add(keys::sure, [](size_t i) { return sure_word(static_cast<PlacedBy>(i)); });
  }
  table.add(keys::activities, [&](size_t i) { return counts[i].activities; })
      .add(keys::time_ns, [&](size_t i) { return counts[i].dur_ns; })
      .add(keys::share, [&](size_t i) { return share(counts[i].dur_ns, stats.all.dur_ns); });
  return table;
}

void add_unplaced(const JobLevels& job, Section& section) {
  const PlacementStats& stats = job.placement;
  Facts facts{
      .key = "unplaced",
      .title = "Unattributed device time",
      .items = {
          fact(keys::time_ns, stats.unplaced.dur_ns,
               fmt::format("of {} of device time", format_ns(stats.all.dur_ns))),
          fact(keys::share, share(stats.unplaced.dur_ns, stats.all.dur_ns)),
          fact(keys::activities, stats.unplaced.activities),
          data_fact(keys::total_ns, stats.all.dur_ns),
          data_fact(keys::no_layer_ns, stats.no_layer.dur_ns),
          fact(keys::no_layer_share, share(stats.no_layer.dur_ns, stats.all.dur_ns)),
          data_fact(keys::no_phase_ns, stats.no_phase.dur_ns),
          fact(keys::no_phase_share, share(stats.no_phase.dur_ns, stats.all.dur_ns)),
          data_fact(keys::phase_inferred_ns, stats.phase_by_name.dur_ns),
          fact(keys::phase_inferred_share, share(stats.phase_by_name.dur_ns, stats.all.dur_ns)),
          fact(keys::layers, stats.layers, stats.layer_source),
          data_fact(keys::layer_source, stats.layer_source), data_fact(keys::flows, stats.flows),
          data_fact(keys::flows_compared, stats.flows_compared),
          data_fact(keys::flows_agree, stats.flows_agree)}};
  Table reasons = placements_table(
      stats.reasons, stats, keys::reason,
      [](size_t i) { return unplaced_reason_name(static_cast<UnplacedReason>(i)); }, false);
  reasons.key = "unattributed_reasons";
  reasons.title = "Why not";
  if (reasons.rows.empty()) reasons.show = Show::kDataOnly;
  Table sources = placements_table(
      stats.by, stats, keys::source,
      [](size_t i) { return placed_by_name(static_cast<PlacedBy>(i)); }, true);
  sources.key = "attributed_by";
  sources.title = "Evidence for the operation";
  section.blocks.push_back(std::move(facts));
  section.blocks.push_back(std::move(reasons));
  section.blocks.push_back(std::move(sources));
}

// Result key of a --group-by key.
const ResultKey& result_of(LevelKey key) {
  switch (key) {
    case LevelKey::kGpu:
      return keys::gpu;
    case LevelKey::kIter:
      return keys::iter;
    case LevelKey::kPhase:
      return keys::phase;
    case LevelKey::kLayer:
      return keys::layer;
    case LevelKey::kOp:
      return keys::op;
    case LevelKey::kOpType:
      break;
  }
  return keys::op_type;
}

Value cell_of(LevelKey key, const LevelGroupRow& group, const JobLevels& job) {
  switch (key) {
    case LevelKey::kGpu:
      return group.keys.gpu;
    case LevelKey::kIter:
      return iter_value(group.keys.iter);
    case LevelKey::kPhase:
      return level_phase_name(group.keys.phase);
    case LevelKey::kLayer:
      return layer_value(group.keys.layer);
    case LevelKey::kOp:
      return job.op_names[group.keys.op];
    case LevelKey::kOpType:
      break;
  }
  return op_type_name(group.keys.op_type);
}

Table groups_table(const JobLevels& job, const LevelQuery& query) {
  using Group = LevelGroupRow;
  const std::vector<Group> groups = run_level_query(job.cells, job.op_names, query);
  TableOf table(groups, {.key = "groups",
                         .title = "Groups (a sample is one GPU in one iteration)",
                         .terminal_limit = 60});
  for (const LevelKey key : query.group_by) {
    table.add(result_of(key), [&](const Group& group) { return cell_of(key, group, job); },
              {Show::kEverywhere, key == LevelKey::kOp});
  }
  table.add(keys::stat, [](const Group& group) { return level_stat_name(group.stat); })
      .add(keys::samples, &Group::samples)
      .add(keys::kernels, &Group::kernels)
      .add_ns(keys::dur_ns, &Group::dur_ns)
      .add_ns(keys::prep_ns, &Group::prep_ns, Show::kDataOnly)
      .add_ns(keys::call_ns, &Group::call_ns, Show::kDataOnly)
      .add_ns(keys::launch_ns, &Group::launch_ns)
      .add_ns(keys::comm_wait_ns, &Group::comm_wait_ns)
      .add_ns(keys::overlap_ns, &Group::overlap_ns, Show::kDataOnly)
      .add(keys::overlap_ratio, &Group::overlap_ratio)
      .add_ns(keys::op_dur_ns, &Group::op_dur_ns);
  return table;
}

// ---- charts ----

constexpr size_t kOpsInCharts = 16;

using OpSums = std::pair<std::pair<LevelPhase, uint32_t>, LevelSums>;

// Compute operations of a phase by `weight`, largest first; those with weight 0 are omitted.
template <typename Weight>
std::vector<OpSums> ops_by(const JobLevels& job, const Weight& weight) {
  std::map<std::pair<LevelPhase, uint32_t>, LevelSums> sums;
  for (const LevelCell& cell : job.cells) {
    if (cell.op_type != OpType::kComm && cell.op_type != OpType::kCopy)
      sums[{cell.phase, cell.op}].add(cell.sums);
  }
  std::vector<OpSums> sorted;
  for (const auto& entry : sums) {
    if (weight(entry.second) > 0) sorted.push_back(entry);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&weight](const OpSums& a, const OpSums& b) {
    return weight(a.second) > weight(b.second);
  });
  sorted.resize(std::min(sorted.size(), kOpsInCharts));
  return sorted;
}

std::string label_of(const JobLevels& job, const OpSums& op) {
  return fmt::format("{} ({})", job.op_names[op.first.second], level_phase_name(op.first.first));
}

template <typename Of>
Series bars_of(const std::vector<OpSums>& ops, std::string name, Mark mark, const Of& of) {
  Series series{.name = std::move(name), .mark = mark};
  for (const OpSums& op : ops) series.y.push_back(static_cast<double>(of(op.second)));
  return series;
}

void add_op_charts(const JobLevels& job, Section& section) {
  const auto overlapped = ops_by(job, [](const LevelSums& sums) { return sums.overlap_ns; });
  if (!overlapped.empty()) {
    Chart chart{.key = "overlap",
                .title = "Operations overlapped with collectives",
                .y = {"kernel time", Unit::kNanoseconds},
                .horizontal = true};
    for (const OpSums& op : overlapped) chart.categories.push_back(label_of(job, op));
    chart.series.push_back(bars_of(overlapped, "during collectives", Mark::kStackedBars,
                                   [](const LevelSums& sums) { return sums.overlap_ns; }));
    chart.series.push_back(
        bars_of(overlapped, "alone", Mark::kStackedBars,
                [](const LevelSums& sums) { return sums.dur_ns - sums.overlap_ns; }));
    section.blocks.push_back(std::move(chart));
  }
  const auto bubbles = [](const LevelSums& sums) { return sums.bubble_ns(); };
  const auto launched = ops_by(job, bubbles);
  if (launched.empty()) return;
  Chart chart{.key = "launch_overhead",
              .title = "Bubbles before the kernels of an operation",
              .y = {"sum over GPUs and iterations", Unit::kNanoseconds},
              .horizontal = true};
  for (const OpSums& op : launched) chart.categories.push_back(label_of(job, op));
  chart.series.push_back(bars_of(launched, "preparation (O_prep)", Mark::kStackedBars,
                                 [](const LevelSums& sums) { return sums.prep_ns; }));
  chart.series.push_back(bars_of(launched, "call (O_call)", Mark::kStackedBars,
                                 [](const LevelSums& sums) { return sums.call_ns; }));
  chart.series.push_back(bars_of(launched, "wait for collectives", Mark::kStackedBars,
                                 [](const LevelSums& sums) { return sums.comm_wait_ns; }));
  chart.series.push_back(
      bars_of(launched, "other work of the GPU", Mark::kStackedBars,
              [](const LevelSums& sums) { return sums.comm_alone_ns + sums.copy_ns; }));
  chart.series.push_back(bars_of(launched, "idle for other reasons", Mark::kStackedBars,
                                 [](const LevelSums& sums) { return sums.other_idle_ns; }));
  section.blocks.push_back(std::move(chart));
}

void add_rank_charts(const JobLevels& job, Section& section) {
  if (job.arrivals.empty()) return;
  Chart waits{.key = "stragglers",
              .title = "Time waited at collectives, and margin of the last to arrive",
              .x = {"GPU", Unit::kNone},
              .y = {"sum over collectives", Unit::kNanoseconds}};
  Chart lags{.key = "lead_lag",
             .title = "Lead and lag to the median GPU",
             .caption =
                 "Median over collectives of its arrival less the median arrival, clocks "
                 "aligned; below 0 it leads",
             .x = {"GPU", Unit::kNone},
             .y = {"after the median", Unit::kNanoseconds}};
  Series waited{.name = "waited for the last", .mark = Mark::kBars};
  Series margin{.name = "last by", .mark = Mark::kBars};
  Series lag{.name = "lag", .mark = Mark::kBars};
  for (const Arrivals& one : job.arrivals) {
    waits.categories.push_back(std::to_string(one.gpu));
    waited.y.push_back(static_cast<double>(one.waited_ns));
    margin.y.push_back(static_cast<double>(one.last_margin_ns));
    lag.y.push_back(one.lag_median_ns);
  }
  lags.categories = waits.categories;
  waits.series = {std::move(waited), std::move(margin)};
  lags.series = {std::move(lag)};
  section.blocks.push_back(std::move(waits));
  section.blocks.push_back(std::move(lags));
}

// ---- words ----

std::string percent(int64_t part, int64_t whole) { return format_share(share(part, whole)); }

// The longest of several stacks: " (T5Block 24, CLIPEncoderLayer 12)".
std::string heaviest_stacks(const JobLevels& job) {
  constexpr size_t kNamed = 3;
  if (job.stacks.size() < 2) return "";
  std::vector<int64_t> time_ns(job.stacks.size());
  for (const LevelCell& cell : job.cells) {
    const int32_t stack = stack_of(job.stacks, cell.layer);
    if (stack != kNoStack) time_ns[static_cast<size_t>(stack)] += cell.sums.dur_ns;
  }
  std::vector<size_t> order(job.stacks.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&time_ns](size_t a, size_t b) { return time_ns[a] > time_ns[b]; });
  std::string words;
  for (size_t i = 0; i < std::min(order.size(), kNamed); ++i) {
    const LayerStack& stack = job.stacks[order[i]];
    words += fmt::format("{}{} of {}", words.empty() ? "" : ", ", stack.layers, stack_words(stack));
  }
  if (order.size() > kNamed) words += ", and others";
  return " (" + words + ")";
}

std::string heaviest_words(const JobLevels& job) {
  std::map<std::tuple<LevelPhase, uint32_t>, int64_t> ops;
  std::map<LevelPhase, int64_t> phases;
  int64_t total_ns = 0;
  int64_t layered_ns = 0;
  // Totals include all device time, as in the tree; the heaviest operation must be a compute
  // operation.
  for (const LevelCell& cell : job.cells) {
    const bool computes = cell.op_type != OpType::kComm && cell.op_type != OpType::kCopy;
    if (computes && job.op_names[cell.op] != "unplaced")
      ops[{cell.phase, cell.op}] += cell.sums.dur_ns;
    phases[cell.phase] += cell.sums.dur_ns;
    total_ns += cell.sums.dur_ns;
    if (cell.layer != kNoLayer) layered_ns += cell.sums.dur_ns;
  }
  if (total_ns == 0 || ops.empty()) return "";
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto phase = std::max_element(phases.begin(), phases.end(), by_time);
  const auto op = std::max_element(ops.begin(), ops.end(), by_time);
  std::vector<std::string> parts;
  if (phase->first != LevelPhase::kNone) {
    parts.push_back(
        fmt::format("{} is {}", percent(phase->second, total_ns), level_phase_name(phase->first)));
  }
  if (job.placement.layers > 0) {
    parts.push_back(job.placement.layers == 1
                        ? fmt::format("{} lies in the only layer", percent(layered_ns, total_ns))
                        : fmt::format("{} lies in the {} layers{}", percent(layered_ns, total_ns),
                                      job.placement.layers, heaviest_stacks(job)));
  }
  const LevelPhase around = std::get<0>(op->first);
  const std::string heaviest =
      fmt::format("the heaviest operation other than collectives and copies is {}{} with {}",
                  job.op_names[std::get<1>(op->first)],
                  around == LevelPhase::kNone ? "" : fmt::format(" ({})", level_phase_name(around)),
                  percent(op->second, total_ns));
  if (parts.empty()) return "T" + heaviest.substr(1) + " of the device time.";
  std::string words = "Device time: " + parts.front();
  for (size_t i = 1; i < parts.size(); ++i) words += ", " + parts[i];
  words += "; " + heaviest + ".";
  return words;
}

// A run without known phases is not reported as a forward pass.
std::string phase_words(const JobLevels& job) {
  const PlacementStats& stats = job.placement;
  const std::string by_name =
      stats.phase_by_name.activities == 0
          ? ""
          : fmt::format("of {} is inferred from the kernels' names alone",
                        percent(stats.phase_by_name.dur_ns, stats.all.dur_ns));
  if (stats.no_phase.activities == 0) return by_name.empty() ? "" : "The phase " + by_name + ".";
  if (stats.no_phase.activities == stats.all.activities) {
    return "The phase is not known: no operator or label separates forward from backward work.";
  }
  std::string text = fmt::format("The phase of {} of the device time is not known",
                                 percent(stats.no_phase.dur_ns, stats.all.dur_ns));
  if (!by_name.empty()) text += "; that " + by_name;
  return text + ".";
}

// Idle time by the causes of the first screen, without those below a thousandth.
std::string idle_words(const JobLevels& job, int64_t span_ns) {
  std::vector<std::pair<int64_t, std::string>> parts;
  const LevelSums total = total_of(job);
  if (total.launch_ns > 0) parts.emplace_back(total.launch_ns, "launch overhead");
  for (size_t c = 0; c < job.idle_ns.size(); ++c) {
    parts.emplace_back(job.idle_ns[c], findings::cause_name(static_cast<FlowCause>(c)));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string words;
  for (const auto& [ns, what] : parts) {
    if (ns * 1000 < span_ns) continue;
    words += (words.empty() ? "" : ", ") + percent(ns, span_ns) + " " + what;
  }
  return words;
}

// Launch overhead before and after the launch call, as in the paper. These numbers do not show a
// cause.
std::string overhead_words(const JobLevels& job) {
  const LevelSums total = total_of(job);
  const int64_t span_ns = span_of(job);
  if (job.definition == LevelDefinition::kChopper) return "";
  if (span_ns <= 0 || total.launch_ns * 100 < span_ns) return "";
  return fmt::format(
      "{} of the span pass before the launch call of the next kernel (O_prep), and {} from that "
      "call to its start (O_call). Nothing else runs on the GPU then.",
      percent(total.prep_ns, span_ns), percent(total.call_ns, span_ns));
}

// How the span divides: kernels, other GPU activity between them, and idle time by cause.
std::string span_words(const JobLevels& job, const LevelSums& total, int64_t span_ns) {
  std::string text =
      fmt::format("The compute kernels span {}{}: {} kernels", format_ns(span_ns),
                  job.gpus.size() > 1 ? fmt::format(" over {} GPUs", job.gpus.size()) : "",
                  percent(total.dur_ns - total.concurrent_ns, span_ns));
  if (job.definition == LevelDefinition::kChopper) {
    return text + fmt::format(", {} launch overhead (O_prep + O_call, as the paper's tool counts).",
                              percent(total.launch_ns, span_ns));
  }
  const int64_t comm_ns = total.comm_wait_ns + total.comm_alone_ns;
  if (comm_ns > 0) text += fmt::format(", {} collectives alone", percent(comm_ns, span_ns));
  if (total.copy_ns > 0) text += fmt::format(", {} copies alone", percent(total.copy_ns, span_ns));
  const int64_t idle_ns = total.launch_ns + total.other_idle_ns;
  if (idle_ns == 0) return text + ".";
  text += fmt::format(", {} idle", percent(idle_ns, span_ns));
  const std::string causes = idle_words(job, span_ns);
  return text + (causes.empty() ? "." : " (" + causes + ").");
}

// Activities outside the span, if they are at least a hundredth of it.
std::string outside_words(const JobLevels& job, int64_t span_ns) {
  int64_t comm_ns = 0;
  int64_t copy_ns = 0;
  for (const JobGpu& gpu : job.gpus) {
    comm_ns += gpu.comm_outside_ns;
    copy_ns += gpu.copy_outside_ns;
  }
  if ((comm_ns + copy_ns) * 100 < span_ns || comm_ns + copy_ns == 0) return "";
  std::string what;
  if (copy_ns > 0) what = format_ns(copy_ns) + " of copies and fills";
  if (comm_ns > 0) {
    what += (what.empty() ? "" : " and ") + format_ns(comm_ns) + " of collectives";
  }
  return fmt::format("Not in this span: {} before the first compute kernel or after the last{}.",
                     what, job.gpus.size() > 1 ? " of their GPU" : "");
}

std::string overlap_words(const JobLevels& job) {
  int64_t comm_ns = 0;
  int64_t exposed_ns = 0;
  for (const JobGpu& gpu : job.gpus) {
    comm_ns += gpu.comm_ns;
    exposed_ns += gpu.exposed_comm_ns;
  }
  if (comm_ns == 0) return "";
  const LevelSums total = total_of(job);
  return fmt::format(
      "Collectives run {} per GPU, {} of that exposed (no compute kernel runs); {} of the kernel "
      "time overlaps with a collective.",
      format_ns(comm_ns / static_cast<int64_t>(std::max<size_t>(job.gpus.size(), 1))),
      percent(exposed_ns, comm_ns), percent(total.overlap_ns, total.dur_ns));
}

// Everything else is shown in the data only.
void keep_words_and_tree(Section& section) {
  for (Block& block : section.blocks) {
    std::visit(
        [](auto& one) {
          if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Facts> ||
                        std::is_same_v<std::decay_t<decltype(one)>, Table>) {
            if (one.show == Show::kEverywhere) one.show = Show::kDataOnly;
          }
        },
        block);
  }
}

}  // namespace

std::vector<std::string> breakdown_words(const JobLevels& job) {
  std::vector<std::string> words;
  const LevelSums total = total_of(job);
  const int64_t span_ns = span_of(job);
  if (total.kernels == 0) {
    words.push_back("No compute kernel is in this trace: there is nothing to place.");
    return words;
  }
  words.push_back(span_words(job, total, span_ns));
  for (std::string sentence : {outside_words(job, span_ns), heaviest_words(job), phase_words(job),
                               overhead_words(job), overlap_words(job), straggler_words(job)}) {
    if (!sentence.empty()) words.push_back(std::move(sentence));
  }
  const PlacementStats& stats = job.placement;
  if (stats.unplaced.activities > 0) {
    words.push_back(fmt::format("{} of the device time could not be given to an operation.",
                                percent(stats.unplaced.dur_ns, stats.all.dur_ns)));
  }
  return words;
}

Section breakdown_section(const JobLevels& job, const BreakdownView& view) {
  Section section{.key = "breakdown", .title = "Breakdown: from one kernel to the whole job"};
  if (view.brief) {
    section.blocks.push_back(Prose{.paragraphs = breakdown_words(job), .show = Show::kReadersOnly});
  }
  section.blocks.push_back(Facts{
      .items = {
          fact(keys::definition, job.definition == LevelDefinition::kChopper ? "chopper" : "assay",
               "",
               job.definition == LevelDefinition::kChopper ? Show::kEverywhere : Show::kDataOnly),
          data_fact(keys::window_source, std::string(window_source_name(job.window_source))),
          fact(keys::iteration_evidence, job.window_evidence, "",
               shown_if(!job.window_evidence.empty()))}});
  if (view.query != nullptr) section.blocks.push_back(groups_table(job, *view.query));
  section.blocks.push_back(TreeMaker(job, view.min_share).make());
  push_step_rows(section, job.spans, view.most_steps,
                 {keys::kernels, keys::span_ns, keys::dur_ns, keys::overlapping_kernels_ns,
                  keys::prep_ns, keys::call_ns, keys::launch_ns, keys::copy_ns, keys::comm_wait_ns,
                  keys::comm_in_gap_ns, keys::idle_other_ns, keys::comm_kernels, keys::comm_ns,
                  keys::exposed_comm_ns, keys::tokens},
                 iterations_table);
  if (view.telemetry != nullptr) add_breakdown_telemetry(*view.telemetry, section);
  push_step_rows(section, job.iterations, view.most_steps, {keys::tokens, keys::longest_span_ns},
                 [&job](const auto& some) { return job_table(job, some); });
  section.blocks.push_back(gpus_table(job));
  section.blocks.push_back(overlap_table(job));
  add_op_charts(job, section);
  section.blocks.push_back(arrivals_table(job.arrivals, false));
  add_rank_charts(job, section);
  section.blocks.push_back(arrivals_table(job.arrivals_by_kind, true));
  add_alignment(job, section);
  add_unplaced(job, section);
  if (view.rows) section.blocks.push_back(rows_table(job));
  if (view.brief) keep_words_and_tree(section);
  return section;
}

Section job_section(const JobLevels& job) {
  Section section{.key = "breakdown", .title = "The ranks as one job"};
  section.blocks.push_back(gpus_table(job));
  section.blocks.push_back(arrivals_table(job.arrivals, false));
  add_rank_charts(job, section);
  section.blocks.push_back(arrivals_table(job.arrivals_by_kind, true));
  add_alignment(job, section);
  return section;
}

}  // namespace assay
