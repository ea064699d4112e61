#pragma once

// The critical path: from the end of the run back along the binding edges. Its lags and residuals
// sum to the makespan exactly.

#include <array>
#include <cstdint>
#include <vector>

#include "flow/graph.h"

namespace assay {

// One step back from `point` along its binding edge.
struct PathStep {
  uint32_t point = kNoPoint;
  EdgeKind kind = EdgeKind::kStart;
  uint32_t edge = 0;
  int64_t lag_ns = 0;
  int64_t residual_ns = 0;
};

struct CriticalPath {
  std::vector<PathStep> steps;  // from the end of the run to its begin
  int64_t makespan_ns = 0;
  CauseTimes cause_ns{};             // host causes, latency, unseen
  std::array<int64_t, 4> work_ns{};  // by WorkKind
  int64_t queue_ns = 0;              // waiting for space in the launch queue
  int64_t start_ns = 0;              // before the first known predecessor
  int64_t residual_ns = 0;           // unexplained time, already included above
};

CriticalPath critical_path(const FlowRun& run, const FlowGraph& graph);

// A replay with its lags: the recording, or an edited run (residuals kept). Holds references.
struct Replayed {
  const std::vector<int64_t>& times_ns;
  const std::vector<int64_t>& lag_ns;   // per edge
  const std::vector<int64_t>& part_ns;  // per part of a segment
};
CriticalPath critical_path(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed);

// The binding edge of a point in a replay; its first edge if all are cut.
PathStep binding_step(const FlowGraph& graph, const Replayed& replayed, uint32_t point);

// Per point: ns by which it could happen later without moving the end of the run. 0 on the path;
// INT64_MAX if the end does not depend on it.
std::vector<int64_t> slack_ns(const FlowRun& run, const FlowGraph& graph);

}  // namespace assay
