#include "flow/replays.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "flow/names.h"
#include "flow/pieces.h"
#include "flow/replay_fit.h"
#include "trace/side_row.h"

namespace assay {
namespace {

bool copies(ApiRole role) {
  return role == ApiRole::kMemcpyAsync || role == ApiRole::kMemcpySync || role == ApiRole::kMemset;
}

// The kernel that a launch call names; empty if none.
std::string launched_kernel(const Trace& trace, ApiCallId call) {
  const size_t row = side_row(trace.launch_names.call, call);
  return row == SIZE_MAX ? "" : std::string(trace.text(trace.launch_names.kernel[row]));
}

CapturedNode node_of(const FlowRun& run, const FlowCall& call, bool is_copy) {
  const Trace& trace = *run.trace;
  CapturedNode node{
      .copies = is_copy, .kernel = launched_kernel(trace, call.row), .call_row = call.row};
  for (OpId op = run.links->call_op[call.row.index()]; op; op = run.links->op_parent[op.index()]) {
    node.outer = trace.text(trace.ops.name[op.index()]);
    if (node.op.empty()) node.op = node.outer;
  }
  if (!node.op.empty()) return node;
  const HostThread& thread = run.threads[call.thread.index()];
  const size_t at = piece_at(thread, call.start_ns);
  if (at < thread.pieces.size() && thread.pieces[at].frame != kNoFlowRow) {
    node.op = trace.text(row_name(trace, RowSource::kFrame, thread.pieces[at].frame));
  }
  return node;
}

// The works of a graph launch in the order of node creation if by_ids, else by begin.
struct LaunchWork {
  std::vector<uint32_t> works = {};
  bool by_ids = false;
};
LaunchWork in_node_order(const FlowRun& run, const FlowCall& call,
                         const std::vector<uint64_t>& node_ids) {
  const auto first = run.works_of_calls.begin() + call.first_work;
  LaunchWork launch{.works = {first, first + call.work_count}};
  std::vector<uint32_t>& works = launch.works;
  const auto id_of = [&](uint32_t w) { return node_ids[run.works[w].activity.index()]; };
  launch.by_ids =
      std::all_of(works.begin(), works.end(), [&](uint32_t w) { return id_of(w) != 0; });
  std::stable_sort(works.begin(), works.end(), [&](uint32_t a, uint32_t b) {
    if (launch.by_ids && id_of(a) != id_of(b)) return id_of(a) < id_of(b);
    return std::tie(run.works[a].start_ns, run.works[a].end_ns) <
           std::tie(run.works[b].start_ns, run.works[b].end_ns);
  });
  return launch;
}

// Sets the operator call of each node. ops: the innermost operator around each node's launch.
void add_work(const FlowRun& run, const std::vector<OpId>& ops, CapturedGraph& graph) {
  const Trace& trace = *run.trace;
  const RoofCalls found = find_launch_calls(trace, *run.links, ops);
  const RecordedInputs inputs(trace);
  for (const CallWork& call : found.calls) {
    graph.calls.push_back(captured_call(trace, inputs, call));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    CapturedNode& node = graph.nodes[i];
    const uint32_t call = found.call[i];
    const bool lasts = call != kNoCallWork && !found.calls[call].work.by_values;
    node.call = lasts ? call : kNoCallWork;
    node.no_work = call == kNoCallWork ? found.why[i] : NoWork::kUntold;
    const OpId named = call == kNoCallWork ? found.innermost[i] : found.calls[call].op;
    if (named) node.no_work_op = trace.text(trace.ops.name[named.index()]);
  }
}

bool same_work(const OpWork& a, const OpWork& b) {
  return std::tie(a.flop, a.read_bytes, a.write_bytes, a.math) ==
         std::tie(b.flop, b.read_bytes, b.write_bytes, b.math);
}

// Compares the calls of two nodes, possibly of different captures.
bool same_work(const CapturedGraph& a, const CapturedNode& x, const CapturedGraph& b,
               const CapturedNode& y) {
  if (x.call == kNoCallWork || y.call == kNoCallWork) return x.call == y.call;
  return same_work(a.calls[x.call].work, b.calls[y.call].work);
}

bool same_operators(const CapturedNode& x, const CapturedNode& y) {
  return x.op == y.op && x.outer == y.outer;
}

// Appends a graph's nodes and calls to the join. Returns the index of its first node.
uint32_t append(const CapturedGraph& graph, ReplayJoin& join) {
  const auto first_node = static_cast<uint32_t>(join.nodes.size());
  const auto first_call = static_cast<uint32_t>(join.calls.size());
  join.calls.insert(join.calls.end(), graph.calls.begin(), graph.calls.end());
  for (CapturedNode node : graph.nodes) {
    if (node.call != kNoCallWork) node.call += first_call;
    join.nodes.push_back(std::move(node));
  }
  return first_node;
}

// The first capture that matches a replay, and which of its activities other captures would
// attribute differently.
struct Fit {
  size_t graph = 0;                      // number of captures if none matches
  std::vector<uint32_t> node = {};       // per work
  std::vector<bool> ambiguous = {};      // per work
  std::vector<bool> sizes_differ = {};   // per work
  std::vector<bool> places_differ = {};  // per work
};

class ReplayJoiner {
 public:
  ReplayJoiner(const FlowRun& run, const std::vector<CapturedGraph>& graphs)
      : run_(run), graphs_(graphs), first_node_(graphs.size(), kNoNode) {
    for (const CapturedGraph& graph : graphs) {
      std::vector<ReplayItem>& items = nodes_.emplace_back();
      for (const CapturedNode& node : graph.nodes) {
        items.push_back({node.copies, names_.add(node.kernel)});
      }
    }
    node_ids_.resize(run.trace->activities.size(), 0);
    const KernelShapeTable& shapes = run.trace->kernel_shapes;
    for (size_t s = 0; s < shapes.size(); ++s) {
      node_ids_[shapes.activity[s].index()] = shapes.graph_node_id[s];
    }
  }

  ReplayJoin join() {
    join_.of_work.resize(run_.works.size());
    for (uint32_t c = 0; c < run_.calls.size(); ++c) {
      if (run_.calls[c].graph && run_.calls[c].work_count > 0) join_launch(c);
    }
    return std::move(join_);
  }

 private:
  std::vector<ReplayItem> items_of(const std::vector<uint32_t>& works) {
    std::vector<ReplayItem> items;
    for (const uint32_t w : works) {
      const WorkKind kind = run_.works[w].kind;
      const bool is_copy = kind == WorkKind::kCopy || kind == WorkKind::kFill;
      items.push_back({is_copy, is_copy ? ReplayNames::kUntold : name_of(w)});
    }
    return items;
  }

  uint32_t name_of(uint32_t work) {
    const StringId name = run_.trace->activities.name[run_.works[work].activity.index()];
    const auto [found, is_new] = number_of_.emplace(name.value, ReplayNames::kUntold);
    if (is_new) found->second = names_.add(run_.trace->text(name));
    return found->second;
  }

  // Notes what would differ if work i were node y of graph g. For another capture it may apply to
  // the whole replay, so it holds for all works.
  void compare(size_t g, size_t i, uint32_t y, Fit& fit) const {
    const CapturedGraph& mine = graphs_[fit.graph];
    const CapturedNode& a = mine.nodes[fit.node[i]];
    const CapturedNode& b = graphs_[g].nodes[y];
    const auto set = [&](std::vector<bool>& flags) {
      flags[i] = true;
      if (g != fit.graph) flags.assign(flags.size(), true);
    };
    if (!same_operators(a, b)) set(fit.ambiguous);
    if (!same_work(mine, a, graphs_[g], b)) set(fit.sizes_differ);
    if (!(a.place == b.place)) set(fit.places_differ);
  }

  Fit fit_of(const std::vector<ReplayItem>& works, bool by_ids) const {
    const std::vector<bool> none(works.size(), false);
    Fit fit{
        .graph = graphs_.size(), .ambiguous = none, .sizes_differ = none, .places_differ = none};
    bool other_names = false;
    for (size_t g = 0; g < graphs_.size(); ++g) {
      const ReplayFit one = fit_replay(names_, works, nodes_[g], by_ids);
      other_names = other_names || one.kind == ReplayFitKind::kOtherNames;
      if (one.kind != ReplayFitKind::kFits) continue;
      const bool first = fit.graph == graphs_.size();
      if (first) {
        fit.graph = g;
        fit.node = one.node;
      }
      const std::vector<uint32_t>& rivals = first ? one.by_order : one.node;
      for (size_t i = 0; i < works.size(); ++i) compare(g, i, rivals[i], fit);
    }
    if (fit.graph == graphs_.size() && other_names) fit.ambiguous.flip();
    return fit;
  }

  // Nothing is joined if other captures name other operators; equal names within one capture
  // exclude only their own works.
  void join_launch(uint32_t c) {
    const LaunchWork launch = in_node_order(run_, run_.calls[c], node_ids_);
    const std::vector<ReplayItem> items = items_of(launch.works);
    ++join_.replays;
    join_.works += items.size();
    const Fit fit = fit_of(items, launch.by_ids);
    join_.ambiguous +=
        static_cast<uint64_t>(std::count(fit.ambiguous.begin(), fit.ambiguous.end(), true));
    if (fit.graph == graphs_.size()) return;
    for (size_t i = 0; i < items.size(); ++i) {
      if (fit.ambiguous[i]) continue;
      const uint32_t node = first_node_of(fit.graph) + fit.node[i];
      join_.of_work[launch.works[i]] = {node, c, fit.sizes_differ[i], fit.places_differ[i]};
      ++join_.joined;
      join_.named += items[i].name != ReplayNames::kUntold &&
                     nodes_[fit.graph][fit.node[i]].name != ReplayNames::kUntold;
    }
  }

  uint32_t first_node_of(size_t g) {
    if (first_node_[g] != kNoNode) return first_node_[g];
    const std::string& file = graphs_[g].file;
    const bool told = std::find(join_.files.begin(), join_.files.end(), file) != join_.files.end();
    if (file != run_.trace->source && !told) join_.files.push_back(file);
    first_node_[g] = append(graphs_[g], join_);
    return first_node_[g];
  }

  const FlowRun& run_;
  const std::vector<CapturedGraph>& graphs_;
  ReplayNames names_;
  std::vector<std::vector<ReplayItem>> nodes_;        // per graph
  std::unordered_map<uint32_t, uint32_t> number_of_;  // by StringId
  std::vector<uint64_t> node_ids_;                    // per activity; 0 = unknown
  std::vector<uint32_t> first_node_;                  // per graph, into join_.nodes
  ReplayJoin join_;
};

}  // namespace

CapturedCall captured_call(const Trace& trace, const RecordedInputs& inputs, const CallWork& call) {
  return {.op = std::string(trace.text(trace.ops.name[call.op.index()])),
          .shape = shape_words(inputs.of(call.op)),
          .work = call.work,
          .nested = call.nested};
}

std::vector<CapturedGraph> captured_graphs(const FlowRun& run) {
  std::vector<CapturedGraph> graphs;
  for (const Capture& capture : run.captures) {
    CapturedGraph graph{.file = run.trace->source};
    std::vector<OpId> ops;
    const HostThread& thread = run.threads[capture.thread.index()];
    for (uint32_t c = thread.first_call; c < thread.first_call + thread.call_count; ++c) {
      const FlowCall& call = run.calls[c];
      if (call.start_ns < capture.start_ns || call.end_ns > capture.end_ns) continue;
      const bool is_copy = copies(run.links->role_of(*run.trace, call.row));
      const bool launch = call.launches && !call.graph;
      if (call.work_count > 0 || (!launch && !is_copy)) continue;
      graph.nodes.push_back(node_of(run, call, is_copy && !launch));
      ops.push_back(run.links->call_op[call.row.index()]);
    }
    if (graph.nodes.empty()) continue;
    add_work(run, ops, graph);
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

ReplayJoin join_replays(const FlowRun& run, const std::vector<CapturedGraph>& graphs) {
  return ReplayJoiner(run, graphs).join();
}

ReplayReport make_replay_report(const FlowRun& run, ReplayJoin join) {
  ReplayReport report{.replays = join.replays,
                      .works = join.works,
                      .joined = join.joined,
                      .named = join.named,
                      .ambiguous = join.ambiguous,
                      .files = std::move(join.files)};
  std::map<std::pair<std::string_view, std::string_view>, ReplayedOp> ops;
  for (size_t w = 0; w < run.works.size(); ++w) {
    const JoinedWork& joined = join.of_work[w];
    if (joined.node == kNoNode) continue;
    report.activities.push_back({run.works[w].activity, joined.launch, joined.node,
                                 joined.sizes_differ, joined.places_differ});
    const CapturedNode& node = join.nodes[joined.node];
    ReplayedOp& op = ops[{node.op, node.outer}];
    ++op.works;
    op.ns += run.works[w].end_ns - run.works[w].start_ns;
  }
  for (auto& [names, op] : ops) {
    op.op = names.first;
    op.outer = names.second;
    report.ops.push_back(std::move(op));
  }
  std::stable_sort(report.ops.begin(), report.ops.end(),
                   [](const ReplayedOp& a, const ReplayedOp& b) { return a.ns > b.ns; });
  report.nodes = std::move(join.nodes);
  report.calls = std::move(join.calls);
  return report;
}

const CapturedCall* replayed_call(const ReplayReport& replays, const ReplayedActivity& one) {
  const CapturedNode& node = replays.nodes[one.node];
  if (node.call == kNoCallWork || one.sizes_differ) return nullptr;
  return &replays.calls[node.call];
}

ReplayReport find_replays(const FlowRun& run,
                          const std::shared_ptr<const std::vector<CapturedGraph>>& others) {
  return find_replays(run, captured_graphs(run), others);
}

ReplayReport find_replays(const FlowRun& run, std::vector<CapturedGraph> own,
                          const std::shared_ptr<const std::vector<CapturedGraph>>& others) {
  if (others) own.insert(own.end(), others->begin(), others->end());
  return make_replay_report(run, join_replays(run, own));
}

}  // namespace assay
