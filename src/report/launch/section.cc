#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "kernels/name.h"
#include "report/document/means.h"
#include "report/launch/charts.h"
#include "report/launch/results.h"
#include "report/launch/section.h"
#include "report/run/floor.h"

namespace assay {
namespace {

// Keys of caveats as text: "whole microseconds, neighbour kernels".
std::string reason_words(std::string_view keys) {
  std::string words;
  for (const char c : keys) {
    if (c == ',') words += ", ";
    if (c != ',') words += c == '_' ? ' ' : c;
  }
  return words;
}

std::string bracket_note(const Bracket& bracket, int64_t value_ns) {
  if (bracket.refused) return "refused: " + reason_words(bracket.reasons);
  if (bracket.low_ns == value_ns && bracket.high_ns == value_ns) return "";
  if (format_ns(bracket.low_ns) == format_ns(bracket.high_ns)) return "";
  return "between " + format_ns(bracket.low_ns) + " and " + format_ns(bracket.high_ns) + " (" +
         reason_words(bracket.reasons) + ")";
}

Value unless_refused(const Bracket& bracket, Value value) {
  return bracket.refused ? Value() : std::move(value);
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
      return "found by repetition";
    case WindowSource::kKernelPeriod:
      return "found by the period of kernel names";
    case WindowSource::kLabel:
      return "spans picked by label";
    case WindowSource::kWholeTrace:
      break;
  }
  return "the whole trace";
}

// Adds both ends of an interval; missing if the number is unavailable.
void add_bracket(std::vector<Item>& items, const ResultKey& low, const ResultKey& high,
                 const Bracket& bracket) {
  items.push_back(data_fact(low, unless_refused(bracket, bracket.low_ns)));
  items.push_back(data_fact(high, unless_refused(bracket, bracket.high_ns)));
}

void add_idle_items(std::vector<Item>& items, const LaunchMetrics& m) {
  const bool any = m.kernels > 0;
  const bool has_window = any && !m.gpu_idle_bracket.refused;
  items.push_back(fact(keys::gpu_idle_eq5_ns, has_window ? Value(m.gpu_idle_eq5_ns) : Value()));
  items.push_back(
      fact(keys::gpu_idle_union_ns,
           unless_refused(m.gpu_idle_bracket, any ? Value(m.gpu_idle_union_ns) : Value()),
           bracket_note(m.gpu_idle_bracket, m.gpu_idle_union_ns)));
  add_bracket(items, keys::gpu_idle_low_ns, keys::gpu_idle_high_ns, m.gpu_idle_bracket);
  items.push_back(fact(keys::gpu_idle_share, share(m.gpu_idle_union_ns, m.il_ns)));
  const auto if_cpu = [&m](Value value) { return m.cpu_idle_known ? std::move(value) : Value(); };
  items.push_back(fact(keys::cpu_idle_ns, if_cpu(m.cpu_idle_ns)));
  items.push_back(data_fact(keys::cpu_idle_blocked_ns, if_cpu(m.cpu_blocked_ns)));
  items.push_back(fact(keys::cpu_blocking_share, if_cpu(m.cpu_blocking_share)));
}

// GPU idle time by cause; the sum is gpu_idle_union_ns.
std::vector<Item> idle_items(const LaunchMetrics& m) {
  const IdleTime& idle = m.idle;
  const auto if_told = [&m](int64_t ns) { return m.idle_told ? Value(ns) : Value(); };
  return {data_fact(keys::idle_host_busy_ns, if_told(idle.host_busy_ns())),
          data_fact(keys::idle_host_blocked_ns, if_told(idle.host_blocked_ns())),
          data_fact(keys::idle_host_input_ns, if_told(idle.host_input_ns())),
          data_fact(keys::idle_host_unattributed_ns, if_told(idle.host_gaps_ns())),
          data_fact(keys::idle_latency_ns, if_told(idle.latency_ns())),
          data_fact(keys::idle_queued_ns, if_told(idle.unseen_ns())),
          data_fact(keys::idle_no_work_ns, if_told(idle.nothing_asked_ns())),
          data_fact(keys::idle_no_launch_record_ns, if_told(idle.no_evidence_ns())),
          data_fact(keys::idle_copy_ns, if_told(idle.copy_ns)),
          data_fact(keys::idle_other_activity_ns, if_told(idle.other_work_ns))};
}

std::vector<Item> metric_items(const LaunchMetrics& m) {
  const bool has_window = m.kernels > 0 && !m.gpu_idle_bracket.refused;
  const Value il = has_window ? Value(m.il_ns) : Value();
  const LaunchTimeStats& t = m.launch_time;
  std::vector<Item> items = {fact(keys::kernels, m.kernels), fact(keys::linked, m.linked),
                             fact(keys::launches, m.launches),
                             fact(keys::tklqt_ns, unless_refused(m.tklqt_bracket, m.tklqt_ns),
                                  bracket_note(m.tklqt_bracket, m.tklqt_ns))};
  add_bracket(items, keys::tklqt_low_ns, keys::tklqt_high_ns, m.tklqt_bracket);
  items.push_back(fact(keys::akd_ns, whole_ns(m.akd_ns)));
  items.push_back(fact(keys::il_ns, il, origin_words(m.origin)));
  items.push_back(fact(keys::kernel_sum_ns, m.kernel_sum_ns));
  items.push_back(fact(keys::kernel_union_ns, m.kernel_union_ns));
  items.push_back(fact(keys::busy_in_window_ns, m.busy_in_window_ns));
  add_idle_items(items, m);
  items.push_back(fact(keys::queue_share, m.queue_share));
  for (Item& item : idle_items(m)) items.push_back(std::move(item));
  for (Item& item : std::vector<Item>{
           data_fact(keys::launch_floor_sum_ns, m.floor_sum_ns),
           data_fact(keys::queue_sum_ns, m.queue_sum_ns),
           data_fact(keys::launch_queue_mean_ns, whole_ns(t.mean_ns)),
           data_fact(keys::launch_queue_p5_ns, whole_ns(t.p5_ns)),
           data_fact(keys::launch_queue_p50_ns, whole_ns(t.p50_ns)),
           data_fact(keys::launch_queue_p95_ns, whole_ns(t.p95_ns)),
           data_fact(keys::launch_queue_p99_ns, whole_ns(t.p99_ns)),
           data_fact(keys::timed_launches, t.n), data_fact(keys::clamped, m.clamped),
           data_fact(keys::dropped, m.dropped), data_fact(keys::graph_launches, m.graph_launches)})
    items.push_back(std::move(item));
  items.push_back(fact(keys::graph_kernels, m.graph_kernels, "", shown_if(m.graph_kernels > 0)));
  return items;
}

bool is_iteration_column(const std::string& key) {
  return key == "kernels" || key == "launches" || key == "tklqt_ns" || key == "akd_ns" ||
         key == "il_ns" || key == "gpu_idle_union_ns" || key == "gpu_idle_low_ns" ||
         key == "gpu_idle_share" || key == "queue_share";
}

// One row per iteration, with the same keys as "whole".
Table iterations_table(const LaunchReport& report, const std::vector<LaunchMetrics>& iterations) {
  Table table{.key = "iterations",
              .title = "Iterations (" + window_words(report.window_source) + ")",
              .columns = {column_of(keys::name, elastic())}};
  for (const Item& item : metric_items(report.whole)) {
    table.columns.push_back(
        {.key = item.key,
         .title = item.label,
         .unit = item.unit,
         .show = is_iteration_column(item.key) ? Show::kEverywhere : Show::kDataOnly});
  }
  for (const LaunchMetrics& iteration : iterations) {
    Row row = {iteration.name};
    for (Item& item : metric_items(iteration)) row.push_back(std::move(item.value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table launch_means(const LaunchMeans& means) {
  return means_table({{keys::kernels, means.kernels},
                      {keys::launches, means.launches},
                      {keys::tklqt_ns, means.tklqt_ns},
                      {keys::akd_ns, means.akd_ns},
                      {keys::il_ns, means.il_ns},
                      {keys::kernel_sum_ns, means.kernel_sum_ns},
                      {keys::kernel_union_ns, means.kernel_union_ns},
                      {keys::gpu_idle_eq5_ns, means.gpu_idle_eq5_ns, true},
                      {keys::gpu_idle_union_ns, means.gpu_idle_union_ns},
                      {keys::cpu_idle_ns, means.cpu_idle_ns},
                      {keys::launch_queue_mean_ns, means.launch_time_mean_ns},
                      {keys::queue_share, means.queue_share}},
                     kDefaultRowLimit);
}

// Quantiles of t_l side by side, for readers; the data has them in "whole".
Facts distribution_facts(const LaunchMetrics& whole) {
  const LaunchTimeStats& t = whole.launch_time;
  return {.title =
              "Launch to start, t_l, over " + format_count(static_cast<int64_t>(t.n)) + " launches",
          .items = {fact(keys::launch_queue_mean_ns, whole_ns(t.mean_ns)),
                    fact(keys::launch_queue_p5_ns, whole_ns(t.p5_ns)),
                    fact(keys::launch_queue_p50_ns, whole_ns(t.p50_ns)),
                    fact(keys::launch_queue_p95_ns, whole_ns(t.p95_ns)),
                    fact(keys::launch_queue_p99_ns, whole_ns(t.p99_ns))},
          .show = Show::kReadersOnly};
}

Table top_kernels_table(const LaunchReport& report, size_t top) {
  const size_t shown =
      top == 0 ? report.top_kernels.size() : std::min(top, report.top_kernels.size());
  const std::vector<TopKernel> kernels(report.top_kernels.begin(),
                                       report.top_kernels.begin() + static_cast<ptrdiff_t>(shown));
  TableOf table(kernels, {.key = "top_kernels",
                          .title = "Most launched kernels (" + std::to_string(shown) + " of " +
                                   std::to_string(report.kernel_names) + " names)",
                          .terminal_limit = 0});
  table.add(
           keys::short_name, [](const TopKernel& k) { return describe_kernel(k.name); }, elastic())
      .add(keys::name, &TopKernel::name, Show::kDataOnly)
      .add(keys::count, &TopKernel::count)
      .add(keys::launch_queue_sum_ns, &TopKernel::launch_queue_sum_ns)
      .add_ns(keys::launch_queue_mean_ns, &TopKernel::launch_queue_mean_ns)
      .add(keys::dur_sum_ns, &TopKernel::dur_sum_ns)
      .add_ns(keys::dur_mean_ns, &TopKernel::dur_mean_ns)
      .add(keys::timed, &TopKernel::timed, Show::kDataOnly);
  return table;
}

}  // namespace

Section launch_section(const LaunchReport& report, size_t top, size_t most_steps) {
  Section section{.key = "launch", .title = "Launch: how work reaches the GPU"};
  section.blocks.push_back(Facts{.key = "whole", .title = "", .items = metric_items(report.whole)});
  section.blocks.push_back(distribution_facts(report.whole));
  section.blocks.push_back(Facts{
      .items = {
          data_fact(keys::window_source, std::string(window_source_name(report.window_source))),
          data_fact(keys::iteration_evidence, report.window_evidence),
          data_fact(keys::origin, std::string(origin_source_name(report.whole.origin)))}});
  section.blocks.push_back(floor_facts(report.floor, Show::kEverywhere));
  for (Block& chart : launch_charts(report)) section.blocks.push_back(std::move(chart));
  const size_t place = push_step_rows(
      section, report.iterations, most_steps,
      {keys::kernels, keys::linked, keys::launches, keys::tklqt_ns, keys::il_ns,
       keys::kernel_sum_ns, keys::kernel_union_ns, keys::gpu_idle_union_ns, keys::cpu_idle_ns,
       keys::launch_floor_sum_ns, keys::queue_sum_ns, keys::graph_launches, keys::graph_kernels},
      [&report](const std::vector<LaunchMetrics>& some) { return iterations_table(report, some); });
  Table& iterations = std::get<Table>(section.blocks[place]);
  Table means = launch_means(report.means);
  const bool repeated = report.window_source != WindowSource::kWholeTrace;
  const bool picked = report.window_source == WindowSource::kLabel;
  if (!picked && (!repeated || report.iterations.size() < 2)) iterations.show = Show::kDataOnly;
  if (!repeated || report.means.il_ns.n < 2) means.show = Show::kDataOnly;
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
  TableOf cells(tree.nodes, {});
  cells
      .add(keys::kind, [](const auto& node) { return std::string(tree_node_kind_name(node.kind)); })
      .add(keys::count, &CallTreeNode::count)
      .add(keys::host_ns, &CallTreeNode::host_ns)
      .add(keys::host_self_ns, &CallTreeNode::host_self_ns)
      .add(keys::launch_queue_ns, &CallTreeNode::launch_queue_ns)
      .add(keys::device_ns, &CallTreeNode::device_ns)
      .add(keys::kernels, &CallTreeNode::kernels);
  Tree block{
      .key = "tree", .title = "Operator → call → kernel", .columns = std::move(cells.columns)};
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallTreeNode& node = tree.nodes[i];
    const bool kernel = node.kind == TreeNodeKind::kKernel;
    block.nodes.push_back(
        {node.depth, kernel ? describe_kernel(node.name) : node.name, std::move(cells.rows[i])});
  }
  return {.key = "", .title = "", .blocks = {std::move(block)}};
}

Section kernel_rows_section(const Trace& trace, const Windows& windows,
                            const std::vector<KernelRow>& kernels) {
  const auto text = [&trace](StringId KernelRow::* name) {
    return [&trace, name](const KernelRow& row) { return trace.text(row.*name); };
  };
  const auto stream = [&trace](const KernelRow& row) -> const Stream& {
    return trace.streams[row.stream.index()];
  };
  const auto iteration = [&windows](const KernelRow& row) {
    return row.iteration >= 0 ? Value(windows.windows[static_cast<size_t>(row.iteration)].name)
                              : Value();
  };
  TableOf table(kernels, {.key = "kernels", .title = "Kernels and what launched them"});
  table.add(keys::kernel, text(&KernelRow::kernel_name), elastic())
      .add(keys::call, text(&KernelRow::call_name))
      .add(keys::root_op, text(&KernelRow::root_op), elastic())
      .add(keys::parent_op, text(&KernelRow::parent_op), elastic())
      .add(
          keys::call_start_ns,
          [](const auto& row) { return row.call_name ? Value(row.call_start_ns) : Value(); },
          Show::kDataOnly)
      .add(keys::kernel_start_ns, &KernelRow::kernel_start_ns, Show::kDataOnly)
      .add(keys::launch_queue_ns,
           [](const auto& row) {
             return row.launch_queue_ns >= 0 ? Value(row.launch_queue_ns) : Value();
           })
      .add(keys::dur_ns, &KernelRow::dur_ns)
      .add(keys::device, [&](const KernelRow& row) { return stream(row).device; })
      .add(keys::stream, [&](const KernelRow& row) { return stream(row).stream; })
      .add(keys::iteration, iteration);
  return {.key = "", .title = "", .blocks = {std::move(table)}};
}

}  // namespace assay
