#pragma once

// The critical path: from the end of the run back over the edge that binds each point. What its
// edges stand for sums to the makespan, to the nanosecond.

#include <array>
#include <cstdint>
#include <vector>

#include "flow/graph.h"

namespace assay {

// One step back: from `point` over its edge that binds.
struct PathStep {
  uint32_t point = kNoPoint;
  EdgeKind kind = EdgeKind::kStart;
  uint32_t edge = 0;
  int64_t lag_ns = 0;
  int64_t residual_ns = 0;
};

struct CriticalPath {
  std::vector<PathStep> steps;  // from the end to the begin
  int64_t makespan_ns = 0;
  CauseTimes cause_ns{};             // host causes, latency, unseen
  std::array<int64_t, 4> work_ns{};  // by WorkKind
  int64_t queue_ns = 0;              // waiting for room in the launch queue
  int64_t start_ns = 0;              // before anything that is known
  int64_t residual_ns = 0;           // part of the above that no edge explains
};

CriticalPath critical_path(const FlowRun& run, const FlowGraph& graph);

// A replay with its lags: the record, or what edits made of it (residuals kept).
struct Replayed {
  const std::vector<int64_t>& times_ns;
  const std::vector<int64_t>& lag_ns;   // per edge
  const std::vector<int64_t>& part_ns;  // per part of a segment
};
CriticalPath critical_path(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed);

// The edge of a point that binds in a replay; its first one where all are cut.
PathStep binding_step(const FlowGraph& graph, const Replayed& replayed, uint32_t point);

// Per point: how much later it could happen without moving the end of the run. Never negative, 0 on
// the path.
std::vector<int64_t> slack_ns(const FlowRun& run, const FlowGraph& graph);

}  // namespace assay
