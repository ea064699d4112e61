#include "flow/replays.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "flow/names.h"
#include "flow/pieces.h"

namespace assay {
namespace {

bool copies(ApiRole role) {
  return role == ApiRole::kMemcpyAsync || role == ApiRole::kMemcpySync || role == ApiRole::kMemset;
}

CapturedNode node_of(const FlowRun& run, const FlowCall& call, bool is_copy) {
  const Trace& trace = *run.trace;
  CapturedNode node{.copies = is_copy, .call_row = call.row};
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

// The work of a graph launch in the order in which its nodes were made.
std::vector<uint32_t> in_node_order(const FlowRun& run, const FlowCall& call,
                                    const std::vector<uint64_t>& node_ids) {
  const auto first = run.works_of_calls.begin() + call.first_work;
  std::vector<uint32_t> works(first, first + call.work_count);
  const auto id_of = [&](uint32_t w) { return node_ids[run.works[w].activity.index()]; };
  const bool all_told =
      std::all_of(works.begin(), works.end(), [&](uint32_t w) { return id_of(w) != 0; });
  std::stable_sort(works.begin(), works.end(), [&](uint32_t a, uint32_t b) {
    if (all_told && id_of(a) != id_of(b)) return id_of(a) < id_of(b);
    return std::tie(run.works[a].start_ns, run.works[a].end_ns) <
           std::tie(run.works[b].start_ns, run.works[b].end_ns);
  });
  return works;
}

bool fits(const FlowRun& run, const std::vector<uint32_t>& works, const CapturedGraph& graph) {
  if (works.size() != graph.nodes.size()) return false;
  for (size_t i = 0; i < works.size(); ++i) {
    const WorkKind kind = run.works[works[i]].kind;
    const bool is_copy = kind == WorkKind::kCopy || kind == WorkKind::kFill;
    if (is_copy && !graph.nodes[i].copies) return false;
  }
  return true;
}

// What each node of a graph works for; ops: the innermost operators around its launches.
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

bool same_work(const CapturedGraph& a, const CapturedGraph& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [&](const CapturedNode& x, const CapturedNode& y) {
                      if (x.call == kNoCallWork || y.call == kNoCallWork) return x.call == y.call;
                      return same_work(a.calls[x.call].work, b.calls[y.call].work);
                    });
}

// A graph's nodes behind those that were joined before.
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

bool same_places(const CapturedGraph& a, const CapturedGraph& b) {
  return std::equal(
      a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
      [](const CapturedNode& x, const CapturedNode& y) { return x.place == y.place; });
}

bool same_operators(const CapturedGraph& a, const CapturedGraph& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const CapturedNode& x, const CapturedNode& y) {
                      return x.op == y.op && x.outer == y.outer;
                    });
}

// The first recording that a replay's work fits.
struct Fit {
  size_t graph = 0;  // their number where there is none
  bool ambiguous = false;
  bool sizes_differ = false;
  bool places_differ = false;
};

Fit fit_of(const FlowRun& run, const std::vector<uint32_t>& works,
           const std::vector<CapturedGraph>& graphs) {
  Fit fit{.graph = graphs.size()};
  for (size_t g = 0; g < graphs.size(); ++g) {
    if (!fits(run, works, graphs[g])) continue;
    if (fit.graph == graphs.size()) {
      fit.graph = g;
      continue;
    }
    fit.ambiguous |= !same_operators(graphs[fit.graph], graphs[g]);
    fit.sizes_differ |= !same_work(graphs[fit.graph], graphs[g]);
    fit.places_differ |= !same_places(graphs[fit.graph], graphs[g]);
  }
  return fit;
}

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
  ReplayJoin join;
  join.of_work.resize(run.works.size());
  std::vector<uint64_t> node_ids(run.trace->activities.size(), 0);
  for (size_t s = 0; s < run.trace->kernel_shapes.size(); ++s) {
    node_ids[run.trace->kernel_shapes.activity[s].index()] =
        run.trace->kernel_shapes.graph_node_id[s];
  }
  std::vector<uint32_t> first_node(graphs.size(), kNoNode);
  for (uint32_t c = 0; c < run.calls.size(); ++c) {
    const FlowCall& call = run.calls[c];
    if (!call.graph || call.work_count == 0) continue;
    ++join.replays;
    join.works += call.work_count;
    const std::vector<uint32_t> works = in_node_order(run, call, node_ids);
    const Fit fit = fit_of(run, works, graphs);
    if (fit.ambiguous) join.ambiguous += works.size();
    if (fit.ambiguous || fit.graph == graphs.size()) continue;
    const CapturedGraph& graph = graphs[fit.graph];
    if (first_node[fit.graph] == kNoNode) {
      const bool told =
          std::find(join.files.begin(), join.files.end(), graph.file) != join.files.end();
      if (graph.file != run.trace->source && !told) join.files.push_back(graph.file);
      first_node[fit.graph] = append(graph, join);
    }
    for (size_t i = 0; i < works.size(); ++i) {
      join.of_work[works[i]] = {first_node[fit.graph] + static_cast<uint32_t>(i), c,
                                fit.sizes_differ, fit.places_differ};
    }
    join.joined += works.size();
  }
  return join;
}

ReplayReport make_replay_report(const FlowRun& run, ReplayJoin join) {
  ReplayReport report{.replays = join.replays,
                      .works = join.works,
                      .joined = join.joined,
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
