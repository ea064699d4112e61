#pragma once

// The steps of make_flow_run, in order; each reads what the earlier ones filled.

#include <vector>

#include "flow/run.h"
#include "flow/timed.h"

namespace assay {

// run.calls, run.outer_call, run.threads (calls and processes).
void find_calls(FlowRun& run);
// run.works with their calls and stream predecessors, run.works_of_calls, run.devices, and per
// thread its launches and devices.
void find_works(FlowRun& run);
// The ends of all works, ascending.
std::vector<Timed> ends_of_works(const FlowRun& run);
// FlowCall::kind, launches, blocks. Needs the works.
void classify_calls(FlowRun& run);
// Per call: whether its times show that it waits for the device, whatever its name.
std::vector<bool> waiting_calls(const FlowRun& run);
// run.waits: dependencies on work of other streams, recorded or else inferred.
void find_waits(FlowRun& run, const std::vector<Timed>& ends);
// run.floors except returns and queue_depth, and FlowWork::ready_ns.
void find_ready_times(FlowRun& run);
// run.targets, own times of calls, run.floors.returns, and FlowCall::slot_work.
void find_targets(FlowRun& run, const std::vector<Timed>& ends);
// HostThread::pieces, and the run's start and end. Needs run.unrecorded.
void find_host_pieces(FlowRun& run);
// Marks host time without events in the span as waiting for external input. Needs the pieces.
void mark_unasked(Interval span, FlowRun& run);
// FlowCall::after_work. Needs the pieces.
void find_host_waits(FlowRun& run, const std::vector<Timed>& ends);
// FlowCall::after_work of the first calls after unrecorded time: they follow all earlier work.
void find_calls_after_unrecorded(FlowRun& run, const std::vector<Timed>& ends);

// A wait recorded in a synchronization row of the device. -1 = no stream.
struct RecordedWait {
  uint32_t call = kNoFlowRow;  // outermost call
  WaitKind kind = WaitKind::kUnknown;
  int64_t device = -1;
  int64_t stream = -1;
  int64_t waited_stream = -1;
  uint32_t record_call = kNoFlowRow;
};
std::vector<RecordedWait> recorded_waits(const FlowRun& run);

// Per stream, the works that calls launched to it, in the order of the calls.
class LaunchOrder {
 public:
  explicit LaunchOrder(const FlowRun& run);
  // The last work launched to `stream` by a call that begins before `time_ns`; kNoFlowRow if none.
  uint32_t last_before(uint32_t stream, int64_t time_ns) const;
  // The first one launched by a call that begins at `time_ns` or later; kNoFlowRow if none.
  uint32_t first_from(uint32_t stream, int64_t time_ns) const;
  size_t streams() const { return first_.size() - 1; }
  // One launch of a stream: begin of the call, and its work.
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

// The quantile of the values at `share` (0 to 1); `otherwise` for fewer than kFloorSamples values.
// Reorders them.
int64_t quantile_ns(std::vector<int64_t>& values, double share, int64_t otherwise);
constexpr size_t kFloorSamples = 8;

}  // namespace assay
