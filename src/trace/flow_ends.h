#pragma once

// The profiler's links from forward to backward operators (fwdbwd flows), as pairs of ends.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "trace/trace.h"

namespace assay {

// Rows of ForwardBackwardFlowTable; SIZE_MAX = not in the file. If an end is repeated, the last one
// counts.
struct FlowEnds {
  size_t forward = SIZE_MAX;
  size_t backward = SIZE_MAX;
};

std::unordered_map<uint64_t, FlowEnds> flow_ends(const ForwardBackwardFlowTable& flows);

// The range of operator rows [first, second) of a thread that start exactly at time_ns.
std::pair<size_t, size_t> ops_at(const Trace& trace, ThreadId thread, int64_t time_ns);

}  // namespace assay
