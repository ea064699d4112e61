#pragma once

// The steps of make_flow_run, in their order; each reads what those before it filled.

#include <vector>

#include "flow/run.h"
#include "flow/timed.h"

namespace assay {

// run.calls, run.outer_call, run.threads (calls and processes).
void find_calls(FlowRun& run);
// run.works with their calls and stream predecessors, run.works_of_calls, run.devices, and what the
// threads launch.
void find_works(FlowRun& run);
// The ends of all works, by time: what several steps look into.
std::vector<Timed> ends_of_works(const FlowRun& run);
// What calls do besides calling: kind, launches, blocks. Needs the works.
void classify_calls(FlowRun& run);
// Per call: whether it waits for the device by what it does, whatever its name.
std::vector<bool> waiting_calls(const FlowRun& run);
// run.waits: work that waits for work of other streams, as recorded, else as inferred.
void find_waits(FlowRun& run, const std::vector<Timed>& ends);
// run.floors without returns and queue, and when each work was ready.
void find_ready_times(FlowRun& run);
// run.targets, own times of calls, run.floors.returns, and what made room in the launch queue.
void find_targets(FlowRun& run, const std::vector<Timed>& ends);
// run.threads' pieces, and the run's bounds. Needs what is unrecorded (trace/unrecorded.h).
void find_host_pieces(FlowRun& run);
// A host without events in the span waits for the outside. Needs the pieces.
void mark_unasked(Interval span, FlowRun& run);
// FlowCall::after_work. Needs the pieces.
void find_host_waits(FlowRun& run, const std::vector<Timed>& ends);
// The same of the calls behind what is unrecorded: they come after all that was before it.
void find_calls_after_unrecorded(FlowRun& run, const std::vector<Timed>& ends);

// Waits for the device that its synchronisation rows tell: (waiting call, kind, device, stream that
// waits or -1, stream waited for or -1, call that recorded the event).
struct RecordedWait {
  uint32_t call = kNoFlowRow;  // outermost call
  WaitKind kind = WaitKind::kUnknown;
  int64_t device = -1;
  int64_t stream = -1;
  int64_t waited_stream = -1;
  uint32_t record_call = kNoFlowRow;
};
std::vector<RecordedWait> recorded_waits(const FlowRun& run);

// The works that calls launched to each stream, in the order of the calls.
class LaunchOrder {
 public:
  explicit LaunchOrder(const FlowRun& run);
  // Works launched to `stream` by calls that begin before `time_ns`: the last of them, or none.
  uint32_t last_before(uint32_t stream, int64_t time_ns) const;
  // The first one launched by a call that begins at `time_ns` or later.
  uint32_t first_from(uint32_t stream, int64_t time_ns) const;
  size_t streams() const { return first_.size() - 1; }
  // The stream's works with the begin of their calls, in that order.
  struct Launch {
    int64_t call_ns;
    uint32_t work;
  };
  const Launch* begin(uint32_t stream) const { return launches_.data() + first_[stream]; }
  const Launch* end(uint32_t stream) const { return launches_.data() + first_[stream + 1]; }

 private:
  std::vector<Launch> launches_;
  std::vector<size_t> first_;
};

// The value below which `share` of the values lie; `otherwise` for fewer than eight. Reorders them.
int64_t quantile_ns(std::vector<int64_t>& values, double share, int64_t otherwise);
constexpr size_t kFloorSamples = 8;

}  // namespace assay
