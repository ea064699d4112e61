#include "flow/path.h"

#include <algorithm>

#include "flow/replay.h"

namespace assay {
namespace {

// The latest point that a run may end with; of equal ones an end of work, then the later one.
// kNoPoint if there is none.
uint32_t last_point(const FlowRun& run, const FlowGraph& graph,
                    const std::vector<int64_t>& times_ns) {
  uint32_t last = kNoPoint;
  bool last_is_work = false;
  for (uint32_t p = 0; p < graph.points(); ++p) {
    if (last != kNoPoint && times_ns[p] < times_ns[last]) continue;
    const Point point = graph.point(p);
    if (!may_end(run, graph, p)) continue;
    const bool is_work = point.kind == PointKind::kWorkEnd;
    const bool later = last == kNoPoint || times_ns[p] > times_ns[last] ||
                       (times_ns[p] == times_ns[last] && is_work >= last_is_work);
    if (!later) continue;
    last = p;
    last_is_work = is_work;
  }
  return last;
}

void add_step(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed,
              const PathStep& step, CriticalPath& path) {
  const auto cause = [&path](FlowCause c) -> int64_t& {
    return path.cause_ns[static_cast<size_t>(c)];
  };
  const Point point = graph.point(step.point);
  switch (step.kind) {
    case EdgeKind::kSegment:
    case EdgeKind::kHandOver: {
      const size_t s = graph.segment_of(step.edge);
      for (uint32_t k = graph.first_part[s]; k < graph.first_part[s + 1]; ++k) {
        cause(graph.part_cause[k]) += replayed.part_ns[k];
      }
      break;
    }
    case EdgeKind::kCall:
      cause(own_cause(run.calls[point.row], graph.lag_ns[step.edge])) += step.lag_ns;
      break;
    case EdgeKind::kReturn:
      cause(return_cause(run.calls[point.row])) += step.lag_ns;
      break;
    case EdgeKind::kAwait:
      cause(await_cause(run.calls[point.row])) += step.lag_ns;
      break;
    case EdgeKind::kQueue:
      path.queue_ns += step.lag_ns;
      break;
    case EdgeKind::kStaged:
      path.work_ns[static_cast<size_t>(WorkKind::kCopy)] += step.lag_ns;
      break;
    case EdgeKind::kLaunch:
      cause(hand_over_cause(run, run.works[point.row])) += step.lag_ns;
      break;
    case EdgeKind::kStream:
    case EdgeKind::kEvent:
      cause(follow_cause(run)) += step.lag_ns;
      break;
    case EdgeKind::kWork:
      path.work_ns[static_cast<size_t>(run.works[point.row].kind)] += step.lag_ns;
      break;
    case EdgeKind::kStart:
      path.start_ns += step.lag_ns;
      break;
    case EdgeKind::kOrder:
      break;  // no time of its own
  }
  cause(residual_cause(run, step.residual_ns)) += step.residual_ns;
  path.residual_ns += step.residual_ns;
}

}  // namespace

PathStep binding_step(const FlowGraph& graph, const Replayed& replayed, uint32_t point) {
  const uint32_t first = graph.first_edge[point];
  PathStep best;
  int64_t latest_ns = INT64_MIN;
  for (uint32_t e = first; e < graph.first_edge[point + 1]; ++e) {
    const int64_t lag_ns = replayed.lag_ns[e];
    if (lag_ns == kCutLag) continue;
    const int64_t residual_ns = e == first ? graph.residual_ns[point] : 0;
    const uint32_t source = graph.source[e];
    const int64_t from_ns = source == kNoPoint ? graph.start_ns : replayed.times_ns[source];
    if (from_ns + lag_ns + residual_ns <= latest_ns) continue;
    latest_ns = from_ns + lag_ns + residual_ns;
    best = {point, graph.kind[e], e, lag_ns, residual_ns};
  }
  if (best.point == kNoPoint) best = {point, graph.kind[first], first, 0, 0};
  return best;
}

CriticalPath critical_path(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed) {
  CriticalPath path;
  uint32_t p = last_point(run, graph, replayed.times_ns);
  if (p == kNoPoint) return path;
  path.makespan_ns = replayed.times_ns[p] - graph.start_ns;
  while (p != kNoPoint) {
    const PathStep step = binding_step(graph, replayed, p);
    path.steps.push_back(step);
    add_step(run, graph, replayed, step, path);
    p = graph.source[step.edge];
  }
  return path;
}

CriticalPath critical_path(const FlowRun& run, const FlowGraph& graph) {
  return critical_path(run, graph, {graph.time_ns, graph.lag_ns, graph.part_ns});
}

std::vector<int64_t> slack_ns(const FlowRun& run, const FlowGraph& graph) {
  int64_t end_ns = graph.start_ns;
  for (uint32_t p = 0; p < graph.points(); ++p) {
    if (may_end(run, graph, p)) end_ns = std::max(end_ns, graph.time_ns[p]);
  }
  std::vector<int64_t> latest_ns(graph.points(), INT64_MAX);
  for (uint32_t p = static_cast<uint32_t>(graph.points()); p-- > 0;) {
    if (may_end(run, graph, p)) latest_ns[p] = std::min(latest_ns[p], end_ns);
    if (latest_ns[p] == INT64_MAX) continue;  // the end of the run does not depend on it
    for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
      if (graph.source[e] == kNoPoint) continue;
      const int64_t residual_ns = e == graph.first_edge[p] ? graph.residual_ns[p] : 0;
      int64_t& source_ns = latest_ns[graph.source[e]];
      source_ns = std::min(source_ns, latest_ns[p] - graph.lag_ns[e] - residual_ns);
    }
  }
  for (size_t p = 0; p < latest_ns.size(); ++p) {
    if (latest_ns[p] != INT64_MAX) latest_ns[p] -= graph.time_ns[p];
  }
  return latest_ns;
}

}  // namespace assay
