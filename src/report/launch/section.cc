#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/name.h"
#include "report/document/units.h"
#include "report/launch/charts.h"
#include "report/sections.h"

namespace assay {
namespace {

// A bracket is shown only where it says something: wider than the number itself, or a refusal.
void add_bracket(std::vector<Item>& items, const char* low_key, const char* low_label,
                 const char* high_key, const char* high_label, const Bracket& bracket) {
  const Value low = bracket.refused ? Value() : Value(bracket.low_ns);
  const Value high = bracket.refused ? Value() : Value(bracket.high_ns);
  items.push_back({low_key, low_label, low, Unit::kNanoseconds, "", Show::kDataOnly});
  items.push_back({high_key, high_label, high, Unit::kNanoseconds, "", Show::kDataOnly});
}

std::string bracket_note(const Bracket& bracket, int64_t value_ns) {
  if (bracket.refused) return "refused: " + bracket.reasons;
  if (bracket.low_ns == value_ns && bracket.high_ns == value_ns) return "";
  if (format_ns(bracket.low_ns) == format_ns(bracket.high_ns)) return "";
  return "between " + format_ns(bracket.low_ns) + " and " + format_ns(bracket.high_ns) + " (" +
         bracket.reasons + ")";
}

Value unless_refused(const Bracket& bracket, Value value) {
  return bracket.refused ? Value() : std::move(value);
}

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

std::string origin_words(OriginSource origin) {
  switch (origin) {
    case OriginSource::kRootOpWithKernel:
      return "from the first operator with a kernel";
    case OriginSource::kEarliestOp:
      return "from the first operator; none has a kernel";
    case OriginSource::kEarliestLaunch:
      return "from the first launch call; no operators were recorded";
    case OriginSource::kEarliestKernel:
      return "from the first kernel; no host side was recorded";
    case OriginSource::kNone:
      break;
  }
  return "no kernels";
}

std::string window_words(WindowSource source) {
  switch (source) {
    case WindowSource::kProfilerStep:
      return "ProfilerStep annotations";
    case WindowSource::kRepeatedRoot:
      return "told by repetition";
    case WindowSource::kLabel:
      return "spans picked by label";
    case WindowSource::kWholeTrace:
      break;
  }
  return "the whole trace";
}

std::vector<Item> metric_items(const LaunchMetrics& m) {
  const bool any = m.kernels > 0;
  const bool has_window = any && !m.gpu_idle_bracket.refused;
  const Value il = has_window ? Value(m.il_ns) : Value();
  std::vector<Item> items = {
      {"kernels", "kernels (n)", m.kernels, Unit::kCount},
      {"linked", "linked to a launch", m.linked, Unit::kCount},
      {"launches", "launches", m.launches, Unit::kCount},
      {"tklqt_ns", "TKLQT", unless_refused(m.tklqt_bracket, m.tklqt_ns), Unit::kNanoseconds,
       bracket_note(m.tklqt_bracket, m.tklqt_ns)},
  };
  add_bracket(items, "tklqt_low_ns", "TKLQT, at least", "tklqt_high_ns", "TKLQT, at most",
              m.tklqt_bracket);
  items.push_back({"akd_ns", "AKD, mean kernel", whole_ns(m.akd_ns), Unit::kNanoseconds});
  items.push_back(
      {"il_ns", "IL, inference latency", il, Unit::kNanoseconds, origin_words(m.origin)});
  items.push_back({"kernel_sum_ns", "kernel time, summed", m.kernel_sum_ns, Unit::kNanoseconds});
  items.push_back({"kernel_union_ns", "kernel time, union", m.kernel_union_ns, Unit::kNanoseconds});
  items.push_back({"busy_in_window_ns", "GPU busy in IL", m.busy_in_window_ns, Unit::kNanoseconds});
  items.push_back({"gpu_idle_eq5_ns", "GPU idle, Eq. 5",
                   has_window ? Value(m.gpu_idle_eq5_ns) : Value(), Unit::kNanoseconds});
  items.push_back({"gpu_idle_union_ns", "GPU idle, union",
                   unless_refused(m.gpu_idle_bracket, any ? Value(m.gpu_idle_union_ns) : Value()),
                   Unit::kNanoseconds, bracket_note(m.gpu_idle_bracket, m.gpu_idle_union_ns)});
  add_bracket(items, "gpu_idle_low_ns", "GPU idle, at least", "gpu_idle_high_ns",
              "GPU idle, at most", m.gpu_idle_bracket);
  items.push_back({"gpu_idle_share", "GPU idle share of IL", share(m.gpu_idle_union_ns, m.il_ns),
                   Unit::kShare});
  const bool cpu = m.cpu_idle_known;
  items.push_back({"cpu_idle_ns", "CPU idle (dispatching thread)",
                   cpu ? Value(m.cpu_idle_ns) : Value(), Unit::kNanoseconds});
  items.push_back({"cpu_idle_blocked_ns", "CPU idle, blocked in calls",
                   cpu ? Value(m.cpu_blocked_ns) : Value(), Unit::kNanoseconds, "",
                   Show::kDataOnly});
  items.push_back({"cpu_blocking_share", "blocked share of CPU idle",
                   cpu ? Value(m.cpu_blocking_share) : Value(), Unit::kShare});
  items.push_back({"queue_share", "queueing share of TKLQT", m.queue_share, Unit::kShare});
  items.push_back({"launch_floor_sum_ns", "TKLQT up to the floor", m.floor_sum_ns,
                   Unit::kNanoseconds, "", Show::kDataOnly});
  items.push_back({"queue_sum_ns", "TKLQT beyond the floor", m.queue_sum_ns, Unit::kNanoseconds, "",
                   Show::kDataOnly});
  items.push_back({"launch_queue_mean_ns", "t_l mean", whole_ns(m.launch_time.mean_ns),
                   Unit::kNanoseconds, "", Show::kDataOnly});
  items.push_back({"launch_queue_p5_ns", "t_l p5", whole_ns(m.launch_time.p5_ns),
                   Unit::kNanoseconds, "", Show::kDataOnly});
  items.push_back({"launch_queue_p50_ns", "t_l p50", whole_ns(m.launch_time.p50_ns),
                   Unit::kNanoseconds, "", Show::kDataOnly});
  items.push_back({"launch_queue_p95_ns", "t_l p95", whole_ns(m.launch_time.p95_ns),
                   Unit::kNanoseconds, "", Show::kDataOnly});
  items.push_back({"launch_queue_p99_ns", "t_l p99", whole_ns(m.launch_time.p99_ns),
                   Unit::kNanoseconds, "", Show::kDataOnly});
  const auto blame = [&items, cpu](const char* key, int64_t ns) {
    items.push_back({key, key, cpu ? Value(ns) : Value(), Unit::kNanoseconds, "", Show::kDataOnly});
  };
  blame("idle_host_busy_ns", m.idle_blame.host_busy_ns);
  blame("idle_host_blocked_ns", m.idle_blame.host_blocked_ns);
  blame("idle_host_input_ns", m.idle_blame.host_input_ns);
  blame("idle_host_gap_short_ns", m.idle_blame.host_gap_short_ns);
  blame("idle_host_gap_long_ns", m.idle_blame.host_gap_long_ns);
  items.push_back({"timed_launches", "launches with a t_l", m.launch_time.n, Unit::kCount, "",
                   Show::kDataOnly});
  items.push_back({"clamped", "t_l clamped to 0", m.clamped, Unit::kCount, "", Show::kDataOnly});
  items.push_back({"dropped", "t_l dropped", m.dropped, Unit::kCount, "", Show::kDataOnly});
  items.push_back(
      {"graph_launches", "graph launches", m.graph_launches, Unit::kCount, "", Show::kDataOnly});
  items.push_back({"graph_kernels", "kernels replayed by graphs", m.graph_kernels, Unit::kCount, "",
                   m.graph_kernels > 0 ? Show::kEverywhere : Show::kDataOnly});
  return items;
}

bool is_iteration_column(const std::string& key) {
  return key == "kernels" || key == "launches" || key == "tklqt_ns" || key == "akd_ns" ||
         key == "il_ns" || key == "gpu_idle_union_ns" || key == "gpu_idle_low_ns" ||
         key == "gpu_idle_share" || key == "queue_share";
}

// The same keys as "whole", one row per iteration.
Table iterations_table(const LaunchReport& report) {
  Table table{.key = "iterations",
              .title = "Iterations (" + window_words(report.window_source) + ")",
              .columns = {{.key = "name", .title = "name", .unit = Unit::kText, .elastic = true}}};
  for (const Item& item : metric_items(report.whole)) {
    table.columns.push_back(
        {.key = item.key,
         .title = item.label,
         .unit = item.unit,
         .show = is_iteration_column(item.key) ? Show::kEverywhere : Show::kDataOnly});
  }
  for (const LaunchMetrics& iteration : report.iterations) {
    Row row = {iteration.name};
    for (Item& item : metric_items(iteration)) row.push_back(std::move(item.value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_mean(Table& table, const char* key, const char* label, const MeanInterval& mean,
              bool is_time) {
  const auto value = [is_time](double v) { return is_time ? whole_ns(v) : Value(v); };
  const auto shown = [is_time](double v) {
    return is_time ? Value(format_value(whole_ns(v), Unit::kNanoseconds))
                   : Value(format_value(Value(v), Unit::kRatio));
  };
  // Only Eq. 5 can be negative: elsewhere an interval ends where the quantity does.
  const bool signed_quantity = std::string_view(key) == "gpu_idle_eq5_ns";
  const double low = signed_quantity ? mean.low : mean.low < 0 ? 0.0 : mean.low;
  table.rows.push_back({key, value(mean.mean), value(low), value(mean.high), mean.n, label,
                        shown(mean.mean), shown(low), shown(mean.high)});
}

// Mean over iterations and its 95 % interval. Rows differ in unit, so readers get text.
Table means_table(const LaunchMeans& means) {
  Table table{
      .key = "means",
      .title = "Mean over iterations, 95 % interval",
      .columns = {
          {.key = "metric", .title = "metric", .unit = Unit::kText, .show = Show::kDataOnly},
          {.key = "mean", .title = "mean", .show = Show::kDataOnly},
          {.key = "low95", .title = "low", .show = Show::kDataOnly},
          {.key = "high95", .title = "high", .show = Show::kDataOnly},
          {.key = "n", .title = "n", .unit = Unit::kCount, .show = Show::kDataOnly},
          {.key = "label", .title = "metric", .unit = Unit::kText, .show = Show::kReadersOnly},
          {.key = "mean_text", .title = "mean", .align = Align::kRight, .show = Show::kReadersOnly},
          {.key = "low_text", .title = "low", .align = Align::kRight, .show = Show::kReadersOnly},
          {.key = "high_text",
           .title = "high",
           .align = Align::kRight,
           .show = Show::kReadersOnly}}};
  add_mean(table, "kernels", "kernels", means.kernels, false);
  add_mean(table, "launches", "launches", means.launches, false);
  add_mean(table, "tklqt_ns", "TKLQT", means.tklqt_ns, true);
  add_mean(table, "akd_ns", "AKD", means.akd_ns, true);
  add_mean(table, "il_ns", "IL", means.il_ns, true);
  add_mean(table, "kernel_sum_ns", "kernel time, summed", means.kernel_sum_ns, true);
  add_mean(table, "kernel_union_ns", "kernel time, union", means.kernel_union_ns, true);
  add_mean(table, "gpu_idle_eq5_ns", "GPU idle, Eq. 5", means.gpu_idle_eq5_ns, true);
  add_mean(table, "gpu_idle_union_ns", "GPU idle, union", means.gpu_idle_union_ns, true);
  add_mean(table, "cpu_idle_ns", "CPU idle", means.cpu_idle_ns, true);
  add_mean(table, "launch_queue_mean_ns", "t_l mean", means.launch_time_mean_ns, true);
  add_mean(table, "queue_share", "queueing share", means.queue_share, false);
  return table;
}

// The quantiles of t_l side by side, for readers; data has them in "whole".
Facts distribution_facts(const LaunchMetrics& whole) {
  const LaunchTimeStats& t = whole.launch_time;
  const auto quantile = [](const char* key, const char* label, double ns) {
    return Item{key, label, whole_ns(ns), Unit::kNanoseconds};
  };
  return {.title =
              "Launch to start, t_l, over " + format_count(static_cast<int64_t>(t.n)) + " launches",
          .items = {quantile("launch_queue_mean_ns", "mean", t.mean_ns),
                    quantile("launch_queue_p5_ns", "p5", t.p5_ns),
                    quantile("launch_queue_p50_ns", "p50", t.p50_ns),
                    quantile("launch_queue_p95_ns", "p95", t.p95_ns),
                    quantile("launch_queue_p99_ns", "p99", t.p99_ns)},
          .show = Show::kReadersOnly};
}

Facts floor_facts(const LaunchFloor& floor) {
  const Value ns = floor.source == FloorSource::kNone ? Value() : Value(floor.floor_ns);
  return {.key = "floor",
          .title = "Launch floor",
          .items = {{"floor_ns", "floor F", ns, Unit::kNanoseconds, floor.text},
                    {"source", "source", std::string(floor_source_name(floor.source)), Unit::kText,
                     "", Show::kDataOnly},
                    {"samples", "samples", floor.samples, Unit::kCount, "", Show::kDataOnly}}};
}

Table top_kernels_table(const LaunchReport& report, size_t top) {
  const size_t shown =
      top == 0 ? report.top_kernels.size() : std::min(top, report.top_kernels.size());
  Table table{
      .key = "top_kernels",
      .title = "Most launched kernels (" + std::to_string(shown) + " of " +
               std::to_string(report.kernel_names) + " names)",
      .columns =
          {{.key = "short_name", .title = "kernel", .unit = Unit::kText, .elastic = true},
           {.key = "name", .title = "full name", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "count", .title = "count", .unit = Unit::kCount},
           {.key = "launch_queue_sum_ns", .title = "Σ t_l", .unit = Unit::kNanoseconds},
           {.key = "launch_queue_mean_ns", .title = "mean t_l", .unit = Unit::kNanoseconds},
           {.key = "dur_sum_ns", .title = "Σ t_k", .unit = Unit::kNanoseconds},
           {.key = "dur_mean_ns", .title = "mean t_k", .unit = Unit::kNanoseconds},
           {.key = "timed", .title = "timed", .unit = Unit::kCount, .show = Show::kDataOnly}},
      .terminal_limit = 0};
  for (size_t i = 0; i < shown; ++i) {
    const TopKernel& k = report.top_kernels[i];
    table.rows.push_back({describe_kernel(k.name), k.name, k.count, k.launch_queue_sum_ns,
                          whole_ns(k.launch_queue_mean_ns), k.dur_sum_ns, whole_ns(k.dur_mean_ns),
                          k.timed});
  }
  return table;
}

}  // namespace

Section launch_section(const LaunchReport& report, size_t top) {
  Section section{.key = "launch", .title = "Launch: how work reaches the GPU"};
  section.blocks.push_back(Facts{.key = "whole", .title = "", .items = metric_items(report.whole)});
  section.blocks.push_back(distribution_facts(report.whole));
  section.blocks.push_back(Facts{
      .items = {{"window_source", "windows", std::string(window_source_name(report.window_source)),
                 Unit::kText, "", Show::kDataOnly},
                {"origin", "p_1", std::string(origin_source_name(report.whole.origin)), Unit::kText,
                 "", Show::kDataOnly}}});
  section.blocks.push_back(floor_facts(report.floor));
  for (Block& chart : launch_charts(report)) section.blocks.push_back(std::move(chart));
  Table iterations = iterations_table(report);
  Table means = means_table(report.means);
  const bool repeated = report.window_source != WindowSource::kWholeTrace;
  const bool picked = report.window_source == WindowSource::kLabel;
  if (!picked && (!repeated || report.iterations.size() < 2)) iterations.show = Show::kDataOnly;
  if (!repeated || report.means.il_ns.n < 2) means.show = Show::kDataOnly;
  section.blocks.push_back(std::move(iterations));
  section.blocks.push_back(std::move(means));
  section.blocks.push_back(top_kernels_table(report, top));
  return section;
}

std::vector<Item> launch_overview(const LaunchMetrics& metrics) {
  std::vector<Item> overview;
  for (Item& item : metric_items(metrics)) {
    if (is_iteration_column(item.key)) overview.push_back(std::move(item));
  }
  return overview;
}

Section tree_section(const CallTree& tree) {
  Tree block{
      .key = "tree",
      .title = "Operator → call → kernel",
      .columns = {{.key = "kind", .title = "kind", .unit = Unit::kText},
                  {.key = "count", .title = "count", .unit = Unit::kCount},
                  {.key = "host_ns", .title = "host", .unit = Unit::kNanoseconds},
                  {.key = "host_self_ns", .title = "host self", .unit = Unit::kNanoseconds},
                  {.key = "launch_queue_ns", .title = "launch+queue", .unit = Unit::kNanoseconds},
                  {.key = "device_ns", .title = "device", .unit = Unit::kNanoseconds},
                  {.key = "kernels", .title = "kernels", .unit = Unit::kCount}}};
  for (const CallTreeNode& node : tree.nodes) {
    const bool kernel = node.kind == TreeNodeKind::kKernel;
    block.nodes.push_back(
        {node.depth,
         kernel ? describe_kernel(node.name) : node.name,
         {std::string(tree_node_kind_name(node.kind)), node.count, node.host_ns, node.host_self_ns,
          node.launch_queue_ns, node.device_ns, node.kernels}});
  }
  return {.key = "", .title = "", .blocks = {block}};
}

Section kernel_rows_section(const Trace& trace, const Windows& windows,
                            const std::vector<KernelRow>& rows) {
  Table table{
      .key = "kernels",
      .title = "Kernels and what launched them",
      .columns = {{.key = "kernel", .title = "kernel", .unit = Unit::kText, .elastic = true},
                  {.key = "call", .title = "call", .unit = Unit::kText},
                  {.key = "root_op", .title = "root op", .unit = Unit::kText, .elastic = true},
                  {.key = "parent_op", .title = "parent op", .unit = Unit::kText, .elastic = true},
                  {.key = "call_start_ns", .title = "call start", .show = Show::kDataOnly},
                  {.key = "kernel_start_ns", .title = "kernel start", .show = Show::kDataOnly},
                  {.key = "launch_queue_ns", .title = "t_l", .unit = Unit::kNanoseconds},
                  {.key = "dur_ns", .title = "t_k", .unit = Unit::kNanoseconds},
                  {.key = "device", .title = "device"},
                  {.key = "stream", .title = "stream"},
                  {.key = "iteration", .title = "iteration", .unit = Unit::kText}}};
  for (const KernelRow& row : rows) {
    const Stream& stream = trace.streams[row.stream.index()];
    const Value call_start = row.call_name ? Value(row.call_start_ns) : Value();
    const Value launch_queue = row.launch_queue_ns >= 0 ? Value(row.launch_queue_ns) : Value();
    const Value iteration = row.iteration >= 0
                                ? Value(windows.windows[static_cast<size_t>(row.iteration)].name)
                                : Value();
    table.rows.push_back({trace.text(row.kernel_name), trace.text(row.call_name),
                          trace.text(row.root_op), trace.text(row.parent_op), call_start,
                          row.kernel_start_ns, launch_queue, row.dur_ns, stream.device,
                          stream.stream, iteration});
  }
  return {.key = "", .title = "", .blocks = {table}};
}

}  // namespace assay
