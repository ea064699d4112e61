#include "trace/flow_ends.h"

#include <algorithm>

namespace assay {

std::unordered_map<uint64_t, FlowEnds> flow_ends(const ForwardBackwardFlowTable& flows) {
  std::unordered_map<uint64_t, FlowEnds> pairs;
  for (size_t i = 0; i < flows.size(); ++i) {
    FlowEnds& ends = pairs[flows.flow_id[i]];
    (flows.is_end[i] != 0 ? ends.backward : ends.forward) = i;
  }
  return pairs;
}

std::pair<size_t, size_t> ops_at(const Trace& trace, ThreadId thread, int64_t time_ns) {
  const auto& threads = trace.ops.thread;
  const auto lane = std::equal_range(threads.begin(), threads.end(), thread);
  const auto begin = trace.ops.start_ns.begin();
  const auto range = std::equal_range(begin + (lane.first - threads.begin()),
                                      begin + (lane.second - threads.begin()), time_ns);
  return {static_cast<size_t>(range.first - begin), static_cast<size_t>(range.second - begin)};
}

}  // namespace assay
