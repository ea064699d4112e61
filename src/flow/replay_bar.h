#pragma once

// What the devices do in a replay, and what the critical path to their last work consists of.

#include <cstdint>

#include "flow/graph.h"
#include "flow/path.h"

namespace assay {

// What the devices do between their first and their last work, in a replay.
struct ReplayBar {
  int64_t window_ns = 0;  // compute + collective + copy + causes
  int64_t compute_ns = 0;
  int64_t collective_ns = 0;
  int64_t copy_ns = 0;
  CauseTimes cause_ns{};  // idle time, by what the work that ends the gap came after
};

ReplayBar replay_bar(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed);

// What the critical path to the last device work consists of from `from_ns` on.
ReplayBar path_bar(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed,
                   int64_t from_ns);

}  // namespace assay
