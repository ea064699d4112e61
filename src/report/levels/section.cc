#include "report/levels/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "report/document/units.h"
#include "report/levels/job.h"
#include "report/levels/telemetry.h"

namespace assay {
namespace {

double share_of(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

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

std::vector<Column> sum_columns(bool readers) {
  const Show detail = readers ? Show::kDataOnly : Show::kEverywhere;
  return {{.key = "kernels", .title = "kernels", .unit = Unit::kCount},
          {.key = "dur_ns", .title = "duration", .unit = Unit::kNanoseconds},
          {.key = "prep_ns", .title = "prep", .unit = Unit::kNanoseconds, .show = detail},
          {.key = "call_ns", .title = "call", .unit = Unit::kNanoseconds, .show = detail},
          {.key = "launch_ns", .title = "launch overhead", .unit = Unit::kNanoseconds},
          {.key = "comm_wait_ns", .title = "wait for comm", .unit = Unit::kNanoseconds},
          {.key = "overlap_ns", .title = "beside comm", .unit = Unit::kNanoseconds, .show = detail},
          {.key = "overlap_ratio", .title = "overlap", .unit = Unit::kShare}};
}

void append_sums(const LevelSums& sums, Row& row) {
  const Row values = {sums.kernels,   sums.dur_ns,       sums.prep_ns,    sums.call_ns,
                      sums.launch_ns, sums.comm_wait_ns, sums.overlap_ns, sums.overlap_ratio()};
  row.insert(row.end(), values.begin(), values.end());
}

Table rows_table(const JobLevels& job) {
  Table table{.key = "rows",
              .columns = {{.key = "gpu", .title = "gpu"},
                          {.key = "iter", .title = "iter"},
                          {.key = "phase", .title = "phase", .unit = Unit::kText},
                          {.key = "layer", .title = "layer"},
                          {.key = "op", .title = "op", .unit = Unit::kText},
                          {.key = "op_type", .title = "type", .unit = Unit::kText}},
              .show = Show::kDataOnly};
  for (Column& column : sum_columns(false)) table.columns.push_back(std::move(column));
  table.rows.reserve(job.cells.size());
  for (const LevelCell& cell : job.cells) {
    Row row = {cell.gpu,
               iter_value(cell.iter),
               level_phase_name(cell.phase),
               layer_value(cell.layer),
               job.op_names[cell.op],
               op_type_name(cell.op_type)};
    append_sums(cell.sums, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

// ---- tree: job, phase, layers, operation, kernel ----

struct Node {
  std::string label;
  std::string kind;
  LevelSums sums;
  std::vector<Node> children;
};

class TreeMaker {
 public:
  TreeMaker(const JobLevels& job, double min_share) : job_(job), min_share_(min_share) {}

  Tree make() {
    Node root{
        fmt::format("{} on {}", words(iterations(), "iteration"), words(job_.gpus.size(), "GPU")),
        "job",
        {},
        {}};
    std::map<LevelPhase, std::map<bool, std::map<uint32_t, Node>>> sorted;
    std::map<LevelPhase, std::set<int32_t>> layers;
    for (const LevelKernelCell& cell : job_.kernels) {
      Node& op = sorted[cell.phase][cell.in_layer][cell.op];
      op.label = job_.op_names[cell.op];
      op.kind = "operation";
      op.sums.add(cell.sums);
      op.children.push_back({cell.kernel, "kernel", cell.sums, {}});
    }
    for (const LevelCell& cell : job_.cells) {
      if (cell.layer != kNoLayer) layers[cell.phase].insert(cell.layer);
    }
    for (auto& [phase, sides] : sorted) {
      Node phase_node{
          std::string(phase == LevelPhase::kNone ? "no phase" : level_phase_name(phase)),
          "phase",
          {},
          {}};
      for (auto& [in_layer, ops] : sides) {
        Node side{in_layer ? layer_words(layers[phase]) : "outside layers", "layer", {}, {}};
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
    Tree tree{
        .key = "tree",
        .title = "Where the time goes (iterations > phase > layers > operation > kernel)",
        .columns = {{.key = "kind", .title = "level", .unit = Unit::kText, .show = Show::kDataOnly},
                    {.key = "share", .title = "share", .unit = Unit::kShare}},
        .area_key = "dur_ns"};
    for (Column& column : sum_columns(true)) tree.columns.push_back(std::move(column));
    lay_out(root, 0, tree);
    return tree;
  }

 private:
  static std::string words(size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  }
  size_t iterations() const {
    std::set<int32_t> seen;
    for (const LevelSpan& span : job_.spans) {
      if (span.iter != kNoIteration) seen.insert(span.iter);
    }
    return seen.size();
  }
  static std::string layer_words(const std::set<int32_t>& layers) {
    if (layers.size() == 1) return fmt::format("layer {}", *layers.begin());
    if (layers.empty()) return "layers";
    return fmt::format("{} layers ({} to {})", layers.size(), *layers.begin(), *layers.rbegin());
  }
  // Device time: what adds up over the tree. Launch overhead and waits stand beside it.
  static int64_t weight(const Node& node) { return node.sums.dur_ns; }
  void emit(const Node& node, uint32_t depth, Tree& tree) const {
    Row values = {node.kind, share_of(weight(node), total_ns_)};
    append_sums(node.sums, values);
    tree.nodes.push_back({depth, node.label, std::move(values)});
  }
  void lay_out(Node& node, uint32_t depth, Tree& tree) const {
    emit(node, depth, tree);
    std::stable_sort(node.children.begin(), node.children.end(),
                     [](const Node& a, const Node& b) { return weight(a) > weight(b); });
    // An operation of one kernel is that kernel.
    if (node.kind == "operation" && node.children.size() == 1) return;
    Node rest{"", "rest", {}, {}};
    size_t merged = 0;
    for (Node& child : node.children) {
      const double share = share_of(weight(child), total_ns_);
      if (share >= min_share_ || (depth == 0 && child.kind == "phase")) {
        lay_out(child, depth + 1, tree);
        continue;
      }
      rest.sums.add(child.sums);
      ++merged;
    }
    if (merged == 0 || merged == node.children.size()) return;
    rest.label = fmt::format("{} smaller", merged);
    emit(rest, depth + 1, tree);
  }

  const JobLevels& job_;
  const double min_share_;
  int64_t total_ns_ = 0;
};

// ---- tables ----

Table iterations_table(const JobLevels& job) {
  Table table{
      .key = "iterations",
      .title = "Iterations: kernels, launch overhead and waits add up to the span",
      .columns =
          {{.key = "gpu", .title = "gpu"},
           {.key = "iter", .title = "iter"},
           {.key = "kernels", .title = "kernels", .unit = Unit::kCount},
           {.key = "span_ns", .title = "span", .unit = Unit::kNanoseconds},
           {.key = "dur_ns", .title = "kernels", .unit = Unit::kNanoseconds},
           {.key = "concurrent_ns",
            .title = "at once",
            .unit = Unit::kNanoseconds,
            .show = Show::kDataOnly},
           {.key = "prep_ns", .title = "prep", .unit = Unit::kNanoseconds},
           {.key = "call_ns", .title = "call", .unit = Unit::kNanoseconds},
           {.key = "launch_ns",
            .title = "launch overhead",
            .unit = Unit::kNanoseconds,
            .show = Show::kDataOnly},
           {.key = "copy_ns",
            .title = "of it copies",
            .unit = Unit::kNanoseconds,
            .show = Show::kDataOnly},
           {.key = "comm_wait_ns", .title = "wait for comm", .unit = Unit::kNanoseconds},
           {.key = "comm_kernels",
            .title = "collectives",
            .unit = Unit::kCount,
            .show = Show::kDataOnly},
           {.key = "comm_ns", .title = "comm", .unit = Unit::kNanoseconds},
           {.key = "exposed_comm_ns", .title = "exposed", .unit = Unit::kNanoseconds},
           {.key = "tokens", .title = "tokens", .unit = Unit::kCount, .show = Show::kDataOnly},
           {.key = "tokens_per_s", .title = "tokens/s", .unit = Unit::kPerSecond}},
      .terminal_limit = 16};
  bool any_tokens = false;
  for (const LevelSpan& span : job.spans) {
    const LevelSums& sums = span.compute;
    any_tokens |= span.tokens.has_value();
    table.rows.push_back({span.gpu, iter_value(span.iter), sums.kernels, span.span_ns, sums.dur_ns,
                          sums.concurrent_ns, sums.prep_ns, sums.call_ns, sums.launch_ns,
                          sums.copy_ns, sums.comm_wait_ns, span.comm_kernels, span.comm_ns,
                          span.exposed_comm_ns, span.tokens, span.tokens_per_s});
  }
  if (!any_tokens) table.columns.back().show = Show::kDataOnly;
  return table;
}

// Of the whole job: ranks of one tensor-parallel group count their tokens once.
Table job_table(const JobLevels& job) {
  Table table{
      .key = "job",
      .title = "Throughput of the job",
      .columns = {{.key = "iter", .title = "iter"},
                  {.key = "tokens", .title = "tokens", .unit = Unit::kCount},
                  {.key = "longest_span_ns", .title = "longest GPU", .unit = Unit::kNanoseconds},
                  {.key = "tokens_per_s", .title = "tokens/s", .unit = Unit::kPerSecond}},
      .terminal_limit = 8};
  bool any = false;
  for (const JobIteration& one : job.iterations) {
    any |= one.tokens.has_value();
    table.rows.push_back({one.iter, one.tokens, one.longest_span_ns, one.tokens_per_s});
  }
  if (!any || job.gpus.size() < 2) table.show = Show::kDataOnly;
  return table;
}

Table gpus_table(const JobLevels& job) {
  Table table{
      .key = "gpus",
      .title = "GPUs",
      .columns =
          {{.key = "gpu", .title = "gpu"},
           {.key = "rank", .title = "rank", .show = Show::kDataOnly},
           {.key = "device", .title = "device", .show = Show::kDataOnly},
           {.key = "file", .title = "file", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "token_group", .title = "tokens as GPU", .show = Show::kDataOnly},
           {.key = "kernels", .title = "kernels", .unit = Unit::kCount},
           {.key = "span_ns", .title = "span", .unit = Unit::kNanoseconds},
           {.key = "dur_ns", .title = "kernels", .unit = Unit::kNanoseconds},
           {.key = "concurrent_ns",
            .title = "at once",
            .unit = Unit::kNanoseconds,
            .show = Show::kDataOnly},
           {.key = "launch_ns", .title = "launch overhead", .unit = Unit::kNanoseconds},
           {.key = "comm_wait_ns", .title = "wait for comm", .unit = Unit::kNanoseconds},
           {.key = "comm_ns", .title = "comm", .unit = Unit::kNanoseconds},
           {.key = "exposed_comm_ns", .title = "exposed", .unit = Unit::kNanoseconds},
           {.key = "closure_ns",
            .title = "closure",
            .unit = Unit::kNanoseconds,
            .show = Show::kDataOnly},
           {.key = "compute_ratio", .title = "kernels / others", .unit = Unit::kRatio},
           {.key = "slowest_op", .title = "slowest op", .unit = Unit::kText, .elastic = true},
           {.key = "slowest_op_ratio", .title = "op / others", .unit = Unit::kRatio}},
      .terminal_limit = 32};
  const bool closes = job.definition == LevelDefinition::kAssay;
  for (const JobGpu& gpu : job.gpus) {
    const LevelSums& sums = gpu.compute;
    table.rows.push_back(
        {gpu.gpu, gpu.rank, gpu.device, gpu.file, gpu.token_group, sums.kernels, gpu.span_ns,
         sums.dur_ns, sums.concurrent_ns, sums.launch_ns, sums.comm_wait_ns, gpu.comm_ns,
         gpu.exposed_comm_ns, closes ? Value(gpu.closure_ns) : Value(), gpu.compute_ratio,
         gpu.slowest_op.empty() ? Value() : Value(gpu.slowest_op), gpu.slowest_op_ratio});
  }
  if (job.gpus.size() < 2) table.show = Show::kDataOnly;
  return table;
}

// Operations by the time that they share the GPU with a collective.
Table overlap_table(const JobLevels& job) {
  std::map<std::pair<LevelPhase, uint32_t>, LevelSums> ops;
  for (const LevelCell& cell : job.cells) {
    if (cell.op_type != OpType::kComm) ops[{cell.phase, cell.op}].add(cell.sums);
  }
  std::vector<std::pair<std::pair<LevelPhase, uint32_t>, LevelSums>> sorted(ops.begin(), ops.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.overlap_ns > b.second.overlap_ns;
  });
  Table table{
      .key = "overlap",
      .title = "Operations beside collectives",
      .columns = {{.key = "phase", .title = "phase", .unit = Unit::kText},
                  {.key = "op", .title = "op", .unit = Unit::kText, .elastic = true},
                  {.key = "kernels", .title = "kernels", .unit = Unit::kCount},
                  {.key = "dur_ns", .title = "duration", .unit = Unit::kNanoseconds},
                  {.key = "op_dur_ns", .title = "with bubbles inside", .unit = Unit::kNanoseconds},
                  {.key = "overlap_ns", .title = "beside comm", .unit = Unit::kNanoseconds},
                  {.key = "overlap_ratio", .title = "overlap", .unit = Unit::kShare}},
      .terminal_limit = 12};
  bool any = false;
  for (const auto& [key, sums] : sorted) {
    any |= sums.overlap_ns > 0;
    table.rows.push_back({level_phase_name(key.first), job.op_names[key.second], sums.kernels,
                          sums.dur_ns, sums.op_dur_ns, sums.overlap_ns, sums.overlap_ratio()});
  }
  if (!any) table.show = Show::kDataOnly;
  return table;
}

Table arrivals_table(const std::vector<Arrivals>& arrivals, bool by_kind) {
  Table table{.key = by_kind ? "arrivals" : "stragglers",
              .title = by_kind ? "Who comes last, by collective" : "Who comes last to collectives",
              .columns = {{.key = "gpu", .title = "gpu"}}};
  if (by_kind) {
    table.columns.push_back({.key = "phase", .title = "phase", .unit = Unit::kText});
    table.columns.push_back({.key = "collective", .title = "collective", .unit = Unit::kText});
    table.show = Show::kDataOnly;
  }
  const std::vector<Column> columns = {
      {.key = "collectives", .title = "collectives", .unit = Unit::kCount},
      {.key = "last", .title = "came last", .unit = Unit::kCount},
      {.key = "last_share", .title = "share", .unit = Unit::kShare},
      {.key = "lag_median_ns", .title = "behind the median", .unit = Unit::kNanoseconds},
      {.key = "waited_ns", .title = "waited for the last", .unit = Unit::kNanoseconds},
      {.key = "caused_ns", .title = "made all wait", .unit = Unit::kNanoseconds}};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (const Arrivals& one : arrivals) {
    Row row = {one.gpu};
    if (by_kind) {
      row.push_back(level_phase_name(one.phase));
      row.push_back(one.kind);
    }
    const double share = static_cast<double>(one.last) / static_cast<double>(one.collectives);
    for (Value value : Row{one.collectives, one.last, share, whole_ns(one.lag_median_ns),
                           one.waited_ns, one.caused_ns}) {
      row.push_back(std::move(value));
    }
    table.rows.push_back(std::move(row));
  }
  if (arrivals.empty()) table.show = Show::kDataOnly;
  return table;
}

void add_alignment(const JobLevels& job, Section& section) {
  const Alignment& alignment = job.alignment;
  const bool any = alignment.used > 0;
  Facts facts{
      .key = "alignment",
      .title = "Clocks, aligned on collectives",
      .items = {{"ranks", "ranks", job.ranks, Unit::kCount},
                {"collectives_matched", "collectives matched", alignment.matched, Unit::kCount},
                {"collectives_unmatched", "not matched", alignment.unmatched, Unit::kCount},
                {"collectives_aligned", "of these aligned", alignment.used, Unit::kCount},
                {"residual_p50_ns", "residual, median",
                 any ? whole_ns(alignment.residual_p50_ns) : Value(), Unit::kNanoseconds},
                {"residual_p95_ns", "residual, p95",
                 any ? whole_ns(alignment.residual_p95_ns) : Value(), Unit::kNanoseconds},
                {"residual_max_ns", "residual, largest",
                 any ? whole_ns(alignment.residual_max_ns) : Value(), Unit::kNanoseconds}}};
  Table offsets{.key = "clock_offsets",
                .title = "Clock of each GPU against the common one",
                .columns = {{.key = "gpu", .title = "gpu"},
                            {.key = "offset_ns", .title = "offset", .unit = Unit::kNanoseconds},
                            {.key = "collectives", .title = "collectives", .unit = Unit::kCount}},
                .show = Show::kDataOnly};
  for (const ClockOffset& offset : alignment.offsets) {
    offsets.rows.push_back({offset.gpu, offset.offset_ns, offset.collectives});
  }
  if (job.ranks < 2) facts.show = Show::kDataOnly;
  section.blocks.push_back(std::move(facts));
  section.blocks.push_back(std::move(offsets));
}

void add_unplaced(const JobLevels& job, Section& section) {
  const PlacementStats& stats = job.placement;
  Facts facts{
      .key = "unplaced",
      .title = "What could not be placed",
      .items = {
          {"time_ns", "without an operation", stats.unplaced.dur_ns, Unit::kNanoseconds,
           fmt::format("of {} of device time", format_ns(stats.all.dur_ns))},
          {"share", "share", share_of(stats.unplaced.dur_ns, stats.all.dur_ns), Unit::kShare},
          {"kernels", "device activities", stats.unplaced.kernels, Unit::kCount},
          {"total_ns", "device time", stats.all.dur_ns, Unit::kNanoseconds, "", Show::kDataOnly},
          {"no_layer_ns", "outside layers", stats.no_layer.dur_ns, Unit::kNanoseconds, "",
           Show::kDataOnly},
          {"no_layer_share", "outside layers", share_of(stats.no_layer.dur_ns, stats.all.dur_ns),
           Unit::kShare},
          {"layers", "layers", stats.layers, Unit::kCount, stats.layer_source},
          {"layer_source", "layers from", stats.layer_source, Unit::kText, "", Show::kDataOnly},
          {"flows", "forward-backward flows", stats.flows, Unit::kCount, "", Show::kDataOnly},
          {"flows_compared", "of these with a sequence number", stats.flows_compared, Unit::kCount,
           "", Show::kDataOnly},
          {"flows_agree", "agree with the sequence number", stats.flows_agree, Unit::kCount, "",
           Show::kDataOnly}}};
  Table reasons{.key = "unplaced_reasons",
                .title = "Why not",
                .columns = {{.key = "reason", .title = "reason", .unit = Unit::kText},
                            {.key = "kernels", .title = "activities", .unit = Unit::kCount},
                            {.key = "time_ns", .title = "time", .unit = Unit::kNanoseconds},
                            {.key = "share", .title = "share", .unit = Unit::kShare}}};
  for (size_t i = 1; i < kUnplacedReasons; ++i) {
    const PlacementCount& count = stats.reasons[i];
    if (count.kernels == 0) continue;
    reasons.rows.push_back({unplaced_reason_name(static_cast<UnplacedReason>(i)), count.kernels,
                            count.dur_ns, share_of(count.dur_ns, stats.all.dur_ns)});
  }
  if (reasons.rows.empty()) reasons.show = Show::kDataOnly;
  Table sources{.key = "placed_by",
                .title = "What told the operation",
                .columns = {{.key = "source", .title = "source", .unit = Unit::kText},
                            {.key = "kernels", .title = "activities", .unit = Unit::kCount},
                            {.key = "time_ns", .title = "time", .unit = Unit::kNanoseconds},
                            {.key = "share", .title = "share", .unit = Unit::kShare}}};
  for (size_t i = 1; i < kPlacedBy; ++i) {
    const PlacementCount& count = stats.by[i];
    if (count.kernels == 0) continue;
    sources.rows.push_back({placed_by_name(static_cast<PlacedBy>(i)), count.kernels, count.dur_ns,
                            share_of(count.dur_ns, stats.all.dur_ns)});
  }
  section.blocks.push_back(std::move(facts));
  section.blocks.push_back(std::move(reasons));
  section.blocks.push_back(std::move(sources));
}

Table groups_table(const JobLevels& job, const LevelQuery& query) {
  Table table{.key = "groups", .title = "Groups (a sample is one GPU in one iteration)"};
  for (LevelKey key : query.group_by) {
    const bool text = key == LevelKey::kPhase || key == LevelKey::kOp || key == LevelKey::kOpType;
    table.columns.push_back({.key = std::string(level_key_name(key)),
                             .title = std::string(level_key_name(key)),
                             .unit = text ? Unit::kText : Unit::kNone,
                             .elastic = key == LevelKey::kOp});
  }
  table.columns.push_back({.key = "stat", .title = "stat", .unit = Unit::kText});
  table.columns.push_back({.key = "samples", .title = "samples", .unit = Unit::kCount});
  table.columns.push_back({.key = "kernels", .title = "kernels", .unit = Unit::kRatio});
  for (Column& column : sum_columns(true)) {
    if (column.key != "kernels") table.columns.push_back(std::move(column));
  }
  table.columns.push_back(
      {.key = "op_dur_ns", .title = "with bubbles inside", .unit = Unit::kNanoseconds});
  table.terminal_limit = 60;
  for (const LevelGroupRow& group : run_level_query(job.cells, job.op_names, query)) {
    Row row;
    for (LevelKey key : query.group_by) {
      switch (key) {
        case LevelKey::kGpu:
          row.push_back(group.keys.gpu);
          break;
        case LevelKey::kIter:
          row.push_back(iter_value(group.keys.iter));
          break;
        case LevelKey::kPhase:
          row.push_back(level_phase_name(group.keys.phase));
          break;
        case LevelKey::kLayer:
          row.push_back(layer_value(group.keys.layer));
          break;
        case LevelKey::kOp:
          row.push_back(job.op_names[group.keys.op]);
          break;
        case LevelKey::kOpType:
          row.push_back(op_type_name(group.keys.op_type));
          break;
      }
    }
    for (Value value :
         Row{level_stat_name(group.stat), group.samples, group.kernels, whole_ns(group.dur_ns),
             whole_ns(group.prep_ns), whole_ns(group.call_ns), whole_ns(group.launch_ns),
             whole_ns(group.comm_wait_ns), whole_ns(group.overlap_ns), group.overlap_ratio,
             whole_ns(group.op_dur_ns)}) {
      row.push_back(std::move(value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// ---- charts ----

constexpr size_t kOpsInCharts = 16;

using OpSums = std::pair<std::pair<LevelPhase, uint32_t>, LevelSums>;

// Compute operations of a phase, those first of which `weight` is largest; none of weight 0.
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
                .title = "Operations beside collectives",
                .y = {"kernel time", Unit::kNanoseconds},
                .horizontal = true};
    for (const OpSums& op : overlapped) chart.categories.push_back(label_of(job, op));
    chart.series.push_back(bars_of(overlapped, "beside collectives", Mark::kStackedBars,
                                   [](const LevelSums& sums) { return sums.overlap_ns; }));
    chart.series.push_back(
        bars_of(overlapped, "alone", Mark::kStackedBars,
                [](const LevelSums& sums) { return sums.dur_ns - sums.overlap_ns; }));
    section.blocks.push_back(std::move(chart));
  }
  const auto bubbles = [](const LevelSums& sums) { return sums.launch_ns + sums.comm_wait_ns; };
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
  section.blocks.push_back(std::move(chart));
}

void add_rank_charts(const JobLevels& job, Section& section) {
  if (job.arrivals.empty()) return;
  Chart waits{.key = "stragglers",
              .title = "Who waits at collectives, and for whom",
              .x = {"GPU", Unit::kNone},
              .y = {"sum over collectives", Unit::kNanoseconds}};
  Chart lags{.key = "lead_lag",
             .title = "Lead and lag to the median GPU",
             .caption =
                 "Median over collectives of its arrival less the median arrival, clocks "
                 "aligned; below 0 it leads",
             .x = {"GPU", Unit::kNone},
             .y = {"behind the median", Unit::kNanoseconds}};
  Series waited{.name = "waited for the last", .mark = Mark::kBars};
  Series caused{.name = "made all wait", .mark = Mark::kBars};
  Series lag{.name = "lag", .mark = Mark::kBars};
  for (const Arrivals& one : job.arrivals) {
    waits.categories.push_back(std::to_string(one.gpu));
    waited.y.push_back(static_cast<double>(one.waited_ns));
    caused.y.push_back(static_cast<double>(one.caused_ns));
    lag.y.push_back(one.lag_median_ns);
  }
  lags.categories = waits.categories;
  waits.series = {std::move(waited), std::move(caused)};
  lags.series = {std::move(lag)};
  section.blocks.push_back(std::move(waits));
  section.blocks.push_back(std::move(lags));
}

// ---- words ----

std::string percent(int64_t part, int64_t whole) { return format_share(share_of(part, whole)); }

std::string heaviest_words(const JobLevels& job) {
  std::map<std::tuple<LevelPhase, uint32_t>, int64_t> ops;
  std::map<LevelPhase, int64_t> phases;
  int64_t total_ns = 0;
  int64_t layered_ns = 0;
  // All device time, as in the tree; only the heaviest operation is one that computes.
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
  std::string words = fmt::format(
      "Of the device time {} is {}", percent(phase->second, total_ns),
      phase->first == LevelPhase::kNone ? "in no known phase" : level_phase_name(phase->first));
  if (job.placement.layers > 0) {
    words += job.placement.layers == 1
                 ? fmt::format(", {} lies in the only layer", percent(layered_ns, total_ns))
                 : fmt::format(", {} lies in the {} layers", percent(layered_ns, total_ns),
                               job.placement.layers);
  }
  words += fmt::format("; the heaviest operation beside collectives and copies is {} ({}) with {}.",
                       job.op_names[std::get<1>(op->first)],
                       level_phase_name(std::get<0>(op->first)), percent(op->second, total_ns));
  return words;
}

std::string overhead_words(const JobLevels& job) {
  const LevelSums total = total_of(job);
  const int64_t span_ns = span_of(job);
  if (total.launch_ns + total.comm_wait_ns == 0) return "";
  const std::pair<int64_t, std::string> candidates[] = {
      {total.prep_ns - total.copy_ns, "the host: it launches after the GPU has run dry (O_prep)"},
      {total.call_ns, "the way from launch call to start (O_call)"},
      {total.comm_wait_ns, "waiting for collectives"},
      {total.copy_ns, "copies and fills between kernels"}};
  const auto worst =
      std::max_element(std::begin(candidates), std::end(candidates),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  return fmt::format("What eats most beside the kernels is {}: {} of the span.", worst->second,
                     percent(worst->first, span_ns));
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
      "Collectives run {} per GPU, {} of that with no compute kernel beside them; {} of the kernel "
      "time runs beside a collective.",
      format_ns(comm_ns / static_cast<int64_t>(std::max<size_t>(job.gpus.size(), 1))),
      percent(exposed_ns, comm_ns), percent(total.overlap_ns, total.dur_ns));
}

// The rest stays in the data.
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

std::vector<std::string> levels_words(const JobLevels& job) {
  std::vector<std::string> words;
  const LevelSums total = total_of(job);
  const int64_t span_ns = span_of(job);
  if (total.kernels == 0) {
    words.push_back("No compute kernel is in this trace: there is nothing to place.");
    return words;
  }
  words.push_back(fmt::format(
      "The compute streams span {}{}: {} kernels, {} launch overhead, {} waiting for collectives.",
      format_ns(span_ns), job.gpus.size() > 1 ? fmt::format(" over {} GPUs", job.gpus.size()) : "",
      percent(total.dur_ns - total.concurrent_ns, span_ns), percent(total.launch_ns, span_ns),
      percent(total.comm_wait_ns, span_ns)));
  for (std::string sentence :
       {heaviest_words(job), overhead_words(job), overlap_words(job), straggler_words(job)}) {
    if (!sentence.empty()) words.push_back(std::move(sentence));
  }
  const PlacementStats& stats = job.placement;
  if (stats.unplaced.kernels > 0) {
    words.push_back(fmt::format("{} of the device time could not be given to an operation.",
                                percent(stats.unplaced.dur_ns, stats.all.dur_ns)));
  }
  return words;
}

Section levels_section(const JobLevels& job, const LevelsView& view) {
  Section section{.key = "levels", .title = "Levels: from one kernel to the whole job"};
  if (view.brief) {
    section.blocks.push_back(Prose{.paragraphs = levels_words(job), .show = Show::kReadersOnly});
  }
  section.blocks.push_back(Facts{
      .items = {{"definition", "definition",
                 job.definition == LevelDefinition::kChopper ? "chopper" : "assay", Unit::kText, "",
                 job.definition == LevelDefinition::kChopper ? Show::kEverywhere : Show::kDataOnly},
                {"window_source", "windows", std::string(window_source_name(job.window_source)),
                 Unit::kText, "", Show::kDataOnly}}});
  if (view.query != nullptr) section.blocks.push_back(groups_table(job, *view.query));
  section.blocks.push_back(TreeMaker(job, view.min_share).make());
  section.blocks.push_back(iterations_table(job));
  if (view.telemetry != nullptr) add_levels_telemetry(*view.telemetry, section);
  section.blocks.push_back(job_table(job));
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
  Section section{.key = "levels", .title = "The ranks as one job"};
  section.blocks.push_back(gpus_table(job));
  section.blocks.push_back(arrivals_table(job.arrivals, false));
  add_rank_charts(job, section);
  section.blocks.push_back(arrivals_table(job.arrivals_by_kind, true));
  add_alignment(job, section);
  return section;
}

}  // namespace assay
