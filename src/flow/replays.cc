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
  CapturedNode node{.copies = is_copy};
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

bool same_operators(const CapturedGraph& a, const CapturedGraph& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const CapturedNode& x, const CapturedNode& y) {
                      return x.op == y.op && x.outer == y.outer;
                    });
}

}  // namespace

std::vector<CapturedGraph> captured_graphs(const FlowRun& run) {
  std::vector<CapturedGraph> graphs;
  for (const Capture& capture : run.captures) {
    CapturedGraph graph{.file = run.trace->source};
    const HostThread& thread = run.threads[capture.thread.index()];
    for (uint32_t c = thread.first_call; c < thread.first_call + thread.call_count; ++c) {
      const FlowCall& call = run.calls[c];
      if (call.start_ns < capture.start_ns || call.end_ns > capture.end_ns) continue;
      const bool is_copy = copies(run.links->role_of(*run.trace, call.row));
      const bool launch = call.launches && !call.graph;
      if (call.work_count > 0 || (!launch && !is_copy)) continue;
      graph.nodes.push_back(node_of(run, call, is_copy && !launch));
    }
    if (!graph.nodes.empty()) graphs.push_back(std::move(graph));
  }
  return graphs;
}

ReplayJoin join_replays(const FlowRun& run, const std::vector<CapturedGraph>& graphs) {
  ReplayJoin join;
  join.node_of.assign(run.works.size(), kNoNode);
  std::vector<uint64_t> node_ids(run.trace->activities.size(), 0);
  for (size_t s = 0; s < run.trace->kernel_shapes.size(); ++s) {
    node_ids[run.trace->kernel_shapes.activity[s].index()] =
        run.trace->kernel_shapes.graph_node_id[s];
  }
  std::vector<uint32_t> first_node(graphs.size(), kNoNode);
  for (const FlowCall& call : run.calls) {
    if (!call.graph || call.work_count == 0) continue;
    ++join.replays;
    join.works += call.work_count;
    const std::vector<uint32_t> works = in_node_order(run, call, node_ids);
    size_t found = graphs.size();
    bool ambiguous = false;
    for (size_t g = 0; g < graphs.size(); ++g) {
      if (!fits(run, works, graphs[g])) continue;
      ambiguous |= found < graphs.size() && !same_operators(graphs[found], graphs[g]);
      if (found == graphs.size()) found = g;
    }
    if (ambiguous) join.ambiguous += works.size();
    if (ambiguous || found == graphs.size()) continue;
    if (first_node[found] == kNoNode) {
      const std::string& file = graphs[found].file;
      const bool told = std::find(join.files.begin(), join.files.end(), file) != join.files.end();
      if (file != run.trace->source && !told) join.files.push_back(file);
      first_node[found] = static_cast<uint32_t>(join.nodes.size());
      join.nodes.insert(join.nodes.end(), graphs[found].nodes.begin(), graphs[found].nodes.end());
    }
    for (size_t i = 0; i < works.size(); ++i) {
      join.node_of[works[i]] = first_node[found] + static_cast<uint32_t>(i);
    }
    join.joined += works.size();
  }
  return join;
}

ReplayReport make_replay_report(const FlowRun& run, const ReplayJoin& join) {
  ReplayReport report{.replays = join.replays,
                      .works = join.works,
                      .joined = join.joined,
                      .ambiguous = join.ambiguous,
                      .files = join.files};
  std::map<std::pair<std::string_view, std::string_view>, ReplayedOp> ops;
  for (size_t w = 0; w < run.works.size(); ++w) {
    if (join.node_of[w] == kNoNode) continue;
    const CapturedNode& node = join.nodes[join.node_of[w]];
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
  return report;
}

}  // namespace assay
