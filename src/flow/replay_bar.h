#pragma once

// Time breakdown of the devices in a replay, and of the critical path to their last work.

#include <cstdint>

#include "flow/graph.h"
#include "flow/path.h"

namespace assay {

// Times summed over devices, each from its first to its last work, in a replay.
struct ReplayBar {
  int64_t window_ns = 0;  // compute + collective + copy + causes
  int64_t compute_ns = 0;
  int64_t collective_ns = 0;
  int64_t copy_ns = 0;
  CauseTimes cause_ns{};  // idle time, by what delayed the work that ends the gap
};

ReplayBar replay_bar(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed);

// The same of the critical path from `from_ns` to the end of the last device work.
ReplayBar path_bar(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed,
                   int64_t from_ns);

}  // namespace assay
