#pragma once

// The links that a profiler draws from forward operators to backward ones, as their two ends.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "trace/trace.h"

namespace assay {

// Rows of ForwardBackwardFlowTable; SIZE_MAX = this end is not in the file. The last of several
// equal ends counts.
struct FlowEnds {
  size_t forward = SIZE_MAX;
  size_t backward = SIZE_MAX;
};

std::unordered_map<uint64_t, FlowEnds> flow_ends(const ForwardBackwardFlowTable& flows);

// The operators of a thread that start exactly at time_ns: rows [first, second).
std::pair<size_t, size_t> ops_at(const Trace& trace, ThreadId thread, int64_t time_ns);

}  // namespace assay
