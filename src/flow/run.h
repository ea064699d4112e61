#pragma once

// A traced run as input for the dependency graph: outermost API calls, device work with its
// dependencies, and timelines of host threads. Built once per trace; everything else in flow/ reads
// it. Definitions: docs/metrics.md, Flow.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/intervals.h"
#include "flow/cause.h"
#include "kernels/names.h"
#include "trace/links.h"
#include "trace/trace.h"
#include "trace/unrecorded.h"

namespace assay {

constexpr uint32_t kNoFlowRow = UINT32_MAX;
constexpr int64_t kUnknownNs = INT64_MIN;

// Delay beyond the typical latency that still counts as latency.
constexpr int64_t kFlowMarginNs = 10'000;
// A thread without new events for this long may be waiting for another one.
constexpr int64_t kSilenceNs = 20'000;

// An outermost API call, including nested calls of the runtime.
struct FlowCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  ApiCallId row;
  ThreadId thread;
  FlowCause kind = FlowCause::kCall;  // kSync, kCold, kAlloc, kInput or kCall
  bool launches = false;              // a kernel or graph launch
  bool graph = false;                 // a graph launch
  bool blocks = false;                // does not return before the work it waits for has ended
  bool polls = false;                 // several queries in a loop, joined to one call
  int64_t poll_step_ns = 0;           // longest time between two of these queries
  bool cold_by_first = false;         // kCold was inferred from times
  int64_t cold_ns = 0;                // of a call that is not kCold: initialization at its begin
  uint32_t first_work = 0;            // range in FlowRun::works_of_calls
  uint32_t work_count = 0;
  uint32_t first_target = 0;  // range in FlowRun::targets: work that it waited for
  uint32_t target_count = 0;
  uint32_t slot_work = kNoFlowRow;  // work that freed space in the launch queue by its start
  // Work that the thread waited for before this call, without a recorded wait.
  uint32_t after_work = kNoFlowRow;
  bool after_unrecorded = false;  // unrecorded time is in between: after_work is no wait
};

// Cause of the time from the end of the awaited work to the call's return. Calls that release
// memory do so after their wait.
inline FlowCause return_cause(const FlowCall& call) {
  return call.kind == FlowCause::kAlloc ? FlowCause::kAlloc : FlowCause::kSync;
}

// Cause of a call's own time; ns: its length on the edge, from the call's begin.
inline FlowCause own_cause(const FlowCall& call, int64_t ns) {
  return call.cold_ns * 2 > ns ? FlowCause::kCold : call.kind;
}

// Cause of the time from the end of after_work to the call.
inline FlowCause await_cause(const FlowCall& call) {
  return call.after_unrecorded ? FlowCause::kNothingAsked : FlowCause::kSync;
}

enum class WorkKind : uint8_t { kCompute, kCollective, kCopy, kFill };

// The last dependency that made work ready.
enum class ReadyBy : uint8_t { kLaunch, kStream, kEvent, kGraph };
constexpr size_t kReadyKinds = 4;

// A device activity other than synchronization rows.
struct FlowWork {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  // When the host had submitted it; kUnknownNs without a launch call.
  int64_t submit_ns = kUnknownNs;
  int64_t ready_ns = kUnknownNs;  // when all known dependencies had ended
  ActivityId activity;
  uint32_t call = kNoFlowRow;         // outermost call that launched it
  uint32_t stream_prev = kNoFlowRow;  // last work to end on its stream before it began
  uint32_t graph_prev = kNoFlowRow;   // last work to end in its graph launch before it began
  uint32_t first_wait = 0;            // range in FlowRun::waits: work on other streams
  uint32_t wait_count = 0;
  uint32_t stream = 0;  // StreamId
  uint32_t device = 0;  // index into FlowRun::devices
  WorkKind kind = WorkKind::kCompute;
  ReadyBy ready_by = ReadyBy::kLaunch;
  bool in_graph = false;
  // A device activity that no call launches individually (e.g. packets of a command processor, page
  // migrations). Its missing launch record shows nothing.
  bool helper = false;
  // A helper that migrates pages of managed memory.
  bool migration = false;
  bool wait_inferred = false;  // its wait was inferred: it follows other work each time
  // A copy from host memory not known to be pinned: the host moves the bytes.
  bool host_stages = false;
  bool pageable = false;  // a copy from or to host memory recorded as pageable
};

// A typical latency between successive events, estimated from this run.
struct FlowFloor {
  int64_t typical_ns = 0;  // median
  int64_t limit_ns = 0;    // longer times are not latency
  uint64_t samples = 0;
  bool assumed = false;  // too few samples: fixed values
  // Range of typical_ns if the run does not determine it; both 0 if it does.
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  bool told() const { return high_ns == 0; }
};
struct FlowFloors {
  FlowFloor launch;   // submission -> begin, on a free stream
  FlowFloor stream;   // end of stream predecessor -> begin
  FlowFloor event;    // end of awaited work on another stream -> begin
  FlowFloor returns;  // end of awaited work -> return of a blocking call
  // Own time of a call that always waited.
  FlowFloor unseen_call{5'000, 5'000, 0, true, 1'000, 10'000};
  // Own time of calls that did not need to wait, by name. For a call that waited it is unknown, so
  // these are never told().
  std::vector<FlowFloor> own_calls;
  std::vector<uint32_t> own_of_name;  // per StringId: index into own_calls plus 1, 0 = not seen
  uint64_t queue_depth = 0;           // queued work at which launch calls block; 0 = not seen
  // Constant delay of every launch before its work can begin, if that is far longer than usual
  // while launches still overlap: a device far from its host. Not included in limits and typical
  // times.
  int64_t way_ns = 0;

  const FlowFloor& own_call(StringId name) const {
    const uint32_t place = own_of_name[name.index()];
    return place == 0 ? unseen_call : own_calls[place - 1];
  }

  const FlowFloor& of(ReadyBy by) const {
    if (by == ReadyBy::kLaunch) return launch;
    return by == ReadyBy::kEvent ? event : stream;
  }
};

// An interval of one thread with one activity; it ends where the next piece begins.
struct HostPiece {
  int64_t start_ns = 0;
  uint32_t row = kNoFlowRow;    // in the table of `source`
  uint32_t op = kNoFlowRow;     // innermost operator around it, or itself
  uint32_t frame = kNoFlowRow;  // innermost frame around it, or itself
  RowSource source = RowSource::kNone;
  FlowCause cause = FlowCause::kHostGap;
  CauseEvidence evidence = CauseEvidence::kAbsent;
};

struct HostThread {
  std::vector<HostPiece> pieces;  // contiguous, from the first event to the last
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t process = 0;
  uint64_t launches = 0;          // number of works that it launched
  std::vector<uint32_t> devices;  // indices into FlowRun::devices that it launches to, ascending
  // Threads of its process that launch to one of these, most launches first; at most 8.
  std::vector<uint32_t> colleagues;
  uint32_t first_call = 0;  // range in FlowRun::calls
  uint32_t call_count = 0;
};

// An interval in which a thread captured a graph: its launches run nothing.
struct Capture {
  ThreadId thread;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct FlowRun {
  const Trace* trace = nullptr;
  const Links* links = nullptr;
  std::shared_ptr<const KernelNames> kernels;
  int64_t start_ns = 0;  // first event of host or device
  int64_t end_ns = 0;    // end of the last work or call
  int64_t work_end_ns = 0;
  std::vector<FlowCall> calls;            // by thread, then start; disjoint per thread
  std::vector<FlowWork> works;            // by start, then end, then row
  std::vector<uint32_t> outer_call;       // per ApiCallId: its outermost call
  std::vector<uint32_t> works_of_calls;   // works, by call
  std::vector<uint32_t> targets;          // works, by blocking call
  std::vector<uint32_t> waits;            // works, by waiting work
  std::vector<int64_t> devices;           // ids as recorded, ascending
  std::vector<HostThread> threads;        // per ThreadId
  std::vector<int64_t> process_start_ns;  // per process: its first host event
  uint64_t launching_processes = 0;       // number of processes that launch work
  bool launches_told = false;             // some work has a launch call
  FlowFloors floors;
  bool has_ops = false;
  bool has_frames = false;
  std::vector<Capture> captures;     // by thread, then start
  std::vector<Interval> unrecorded;  // unrecorded intervals, ascending
  uint64_t recorded_waits = 0;
  uint64_t inferred_waits = 0;
  // Blocking calls with known awaited work; of these, how many returned before it ended and by how
  // much at most: host and device clocks differ.
  uint64_t sure_returns = 0;
  uint64_t early_returns = 0;
  int64_t early_return_ns = 0;
};

// When the launch of work arrived at the device (FlowFloors::way_ns later), at most its begin;
// kUnknownNs if its submission is unknown.
inline int64_t arrival_ns(const FlowRun& run, const FlowWork& work) {
  if (work.submit_ns == kUnknownNs) return kUnknownNs;
  return std::max(work.submit_ns, std::min(work.submit_ns + run.floors.way_ns, work.start_ns));
}

// True if work began before the call that launched it returned.
inline bool begins_within_call(const FlowRun& run, const FlowWork& work) {
  return work.call != kNoFlowRow && work.start_ns < run.calls[work.call].end_ns;
}

// Cause of the time until work is submitted: for work that begins within its call, what the call
// does until then; else latency.
inline FlowCause hand_over_cause(const FlowRun& run, const FlowWork& work) {
  if (!begins_within_call(run, work)) return FlowCause::kLatency;
  const FlowCall& call = run.calls[work.call];
  if (work.start_ns < call.start_ns) return FlowCause::kLatency;  // clocks differ
  if (call.cold_ns > 0 && work.submit_ns <= call.start_ns + call.cold_ns) return FlowCause::kCold;
  return call.kind == FlowCause::kSync ? FlowCause::kLatency : call.kind;
}

// Cause of the time between work and its predecessor: latency if launches are recorded. Without
// them, submission times are unknown and no time is attributed to launches.
inline FlowCause follow_cause(const FlowRun& run) {
  return run.launches_told ? FlowCause::kLatency : FlowCause::kNoEvidence;
}

// Cause of unexplained time (FlowGraph::residual_ns).
inline FlowCause residual_cause(const FlowRun& run, int64_t residual_ns) {
  if (!run.launches_told || residual_ns <= kFlowMarginNs) return follow_cause(run);
  return FlowCause::kUnseen;
}

// The first copy of a call from or to pageable memory; null if none.
inline const FlowWork* pageable_copy(const FlowRun& run, const FlowCall& call) {
  for (uint32_t k = 0; k < call.work_count; ++k) {
    const FlowWork& work = run.works[run.works_of_calls[call.first_work + k]];
    if (work.pageable) return &work;
  }
  return nullptr;
}

// trace and links must outlive the run. kernels: kernel classification; null: the built-in table.
FlowRun make_flow_run(const Trace& trace, const Links& links,
                      std::shared_ptr<const KernelNames> kernels = {});

}  // namespace assay
