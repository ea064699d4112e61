#pragma once

// A traced run as the dependency graph sees it: outermost API calls, device work, what each piece
// of work waited for, and what every host thread did when. Built once per trace; everything else in
// flow/ reads it. Definitions: docs/metrics.md, Flow.

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

// Beyond the usual latency a wait is told apart from it only after this long.
constexpr int64_t kFlowMarginNs = 10'000;
// A thread that shows nothing new for this long may be waiting for another one.
constexpr int64_t kSilenceNs = 20'000;

// An outermost API call: what the runtime calls inside it is part of it.
struct FlowCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  ApiCallId row;
  ThreadId thread;
  FlowCause kind = FlowCause::kCall;  // kSync, kCold, kAlloc or kCall
  bool launches = false;              // a kernel or graph launch
  bool graph = false;                 // a graph launch
  bool blocks = false;                // does not return before what it waits for has ended
  bool polls = false;                 // asks again and again whether something has ended
  int64_t poll_step_ns = 0;           // the longest time between two of its questions
  bool cold_by_first = false;         // kCold by a rule about times: inferred
  int64_t cold_ns = 0;                // of a call that is not kCold: its start-up, from its begin
  uint32_t first_work = 0;            // range in FlowRun::works_of_calls
  uint32_t work_count = 0;
  uint32_t first_target = 0;  // range in FlowRun::targets: work that it waited for
  uint32_t target_count = 0;
  uint32_t slot_work = kNoFlowRow;  // work whose start made room in the launch queue
  // Work whose end the thread waited for before this call, by nothing that is recorded.
  uint32_t after_work = kNoFlowRow;
  bool after_unrecorded = false;  // and in between nothing was recorded: it is no wait
};

// What the time from the end of what a call waited for to its return is: one that releases memory
// does so behind its wait.
inline FlowCause return_cause(const FlowCall& call) {
  return call.kind == FlowCause::kAlloc ? FlowCause::kAlloc : FlowCause::kSync;
}

// What a call's own time is, of which an edge stands for `ns` from its begin.
inline FlowCause own_cause(const FlowCall& call, int64_t ns) {
  return call.cold_ns * 2 > ns ? FlowCause::kCold : call.kind;
}

// What the time from its after_work's end to a call is.
inline FlowCause await_cause(const FlowCall& call) {
  return call.after_unrecorded ? FlowCause::kNothingAsked : FlowCause::kSync;
}

enum class WorkKind : uint8_t { kCompute, kCollective, kCopy, kFill };

// What the start of a piece of work came after last.
enum class ReadyBy : uint8_t { kLaunch, kStream, kEvent, kGraph };
constexpr size_t kReadyKinds = 4;

// A device activity that is work: everything but synchronisation rows.
struct FlowWork {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t submit_ns = kUnknownNs;  // when the host had handed it over
  int64_t ready_ns = kUnknownNs;   // when nothing that is known held it back any more
  ActivityId activity;
  uint32_t call = kNoFlowRow;         // the outermost call that launched it
  uint32_t stream_prev = kNoFlowRow;  // the last to end on its stream before it began
  uint32_t graph_prev = kNoFlowRow;   // the last to end of its graph launch before it began
  uint32_t first_wait = 0;            // range in FlowRun::waits: work on other streams, by events
  uint32_t wait_count = 0;
  uint32_t stream = 0;  // StreamId
  uint32_t device = 0;  // place in FlowRun::devices
  WorkKind kind = WorkKind::kCompute;
  ReadyBy ready_by = ReadyBy::kLaunch;
  bool in_graph = false;
  // A row of a device that no call launches one by one (e.g. packets of a command processor): it is
  // work, but that it has no launch record says nothing.
  bool helper = false;
  // A helper that moves pages of managed memory; the others are engines without calls.
  bool migration = false;
  bool wait_inferred = false;  // no event is recorded for it: it follows other work each time
  bool host_stages = false;    // a copy from pageable host memory: the host moves the bytes
  bool pageable = false;       // a copy from or to host memory that is told to be pageable
};

// Usual times between things that follow each other, estimated from this run.
struct FlowFloor {
  int64_t typical_ns = 0;  // median
  int64_t limit_ns = 0;    // beyond it the time is no mere latency
  uint64_t samples = 0;
  bool assumed = false;  // too few samples: a fixed value
  // What typical_ns lies between where the run does not tell it; both 0 where it does.
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  bool told() const { return high_ns == 0; }
};
struct FlowFloors {
  FlowFloor launch;   // handed over -> begins, on a free stream
  FlowFloor stream;   // predecessor ends -> begins
  FlowFloor event;    // the work it waits for on another stream ends -> begins
  FlowFloor returns;  // the work a blocking call waits for ends -> the call returns
  FlowFloor unseen_call{5'000, 5'000, 0, true, 1'000, 10'000};  // a call that waited each time
  // What calls cost that need not wait, by name. Each has its own cost, and of one that waited
  // nobody knows it: never told.
  std::vector<FlowFloor> own_calls;
  std::vector<uint32_t> own_of_name;  // per StringId: place in own_calls plus 1; 0 = not seen
  uint64_t queue_depth = 0;           // unstarted work at which launch calls block; 0 = not seen
  // What every launch is on its way for before it can begin, where that is far longer than usual
  // and the same each time, while others follow on the same way: a device far from its host. Part
  // of no limit and no typical time.
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

// A stretch of one thread in which it did one thing; it ends where the next one begins.
struct HostPiece {
  int64_t start_ns = 0;
  uint32_t row = kNoFlowRow;    // in the table of `source`
  uint32_t op = kNoFlowRow;     // innermost operator around or itself
  uint32_t frame = kNoFlowRow;  // innermost frame around or itself
  RowSource source = RowSource::kNone;
  FlowCause cause = FlowCause::kHostGap;
  CauseEvidence evidence = CauseEvidence::kAbsent;
};

struct HostThread {
  std::vector<HostPiece> pieces;  // disjoint and without gaps, from the first event to the last
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t process = 0;
  uint64_t launches = 0;             // calls that put work on a device
  std::vector<uint32_t> devices;     // places in FlowRun::devices it launches to, most first
  std::vector<uint32_t> colleagues;  // threads of its process that launch to one of them
  uint32_t first_call = 0;           // range in FlowRun::calls
  uint32_t call_count = 0;
};

// A stretch in which a thread recorded a graph: its launches run nothing.
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
  uint64_t launching_processes = 0;       // that launch work
  bool launches_told = false;             // whether any work has a launch call
  FlowFloors floors;
  bool has_ops = false;
  bool has_frames = false;
  std::vector<Capture> captures;  // by thread, then start
  std::vector<Interval>
      unrecorded;  // that the recorder left out, ascending: of these nothing is known
  uint64_t recorded_waits = 0;
  uint64_t inferred_waits = 0;
  // Blocking calls of which it is known what they wait for; of these, how many returned before that
  // had ended, and the most of it: clocks of host and device that differ.
  uint64_t sure_returns = 0;
  uint64_t early_returns = 0;
  int64_t early_return_ns = 0;
};

// When work could begin for all that its launch is on its way (FlowFloors::way_ns): never after it
// began, and kUnknownNs where it is not known when it was handed over.
inline int64_t arrival_ns(const FlowRun& run, const FlowWork& work) {
  if (work.submit_ns == kUnknownNs) return kUnknownNs;
  return std::max(work.submit_ns, std::min(work.submit_ns + run.floors.way_ns, work.start_ns));
}

// Whether work began within the call that launched it.
inline bool begins_within_call(const FlowRun& run, const FlowWork& work) {
  return work.call != kNoFlowRow && work.start_ns < run.calls[work.call].end_ns;
}

// What the time until work is handed over is: of work that begins within its call what the call
// does until then, else the latency behind it.
inline FlowCause hand_over_cause(const FlowRun& run, const FlowWork& work) {
  if (!begins_within_call(run, work)) return FlowCause::kLatency;
  const FlowCall& call = run.calls[work.call];
  if (work.start_ns < call.start_ns) return FlowCause::kLatency;  // by clocks that differ
  if (call.cold_ns > 0 && work.submit_ns <= call.start_ns + call.cold_ns) return FlowCause::kCold;
  return call.kind == FlowCause::kSync ? FlowCause::kLatency : call.kind;
}

// What the time between work and what it follows is: a latency, where launches are recorded.
// Without them nothing tells when work was asked for, and no time is said to be that of launches.
inline FlowCause follow_cause(const FlowRun& run) {
  return run.launches_told ? FlowCause::kLatency : FlowCause::kNoEvidence;
}

// What the time beyond the usual is (FlowGraph::residual_ns).
inline FlowCause residual_cause(const FlowRun& run, int64_t residual_ns) {
  if (!run.launches_told || residual_ns <= kFlowMarginNs) return follow_cause(run);
  return FlowCause::kUnseen;
}

// The first copy of a call's from or to pageable memory; nullptr = none.
inline const FlowWork* pageable_copy(const FlowRun& run, const FlowCall& call) {
  for (uint32_t k = 0; k < call.work_count; ++k) {
    const FlowWork& work = run.works[run.works_of_calls[call.first_work + k]];
    if (work.pageable) return &work;
  }
  return nullptr;
}

// trace and links must outlive the run.
// kernels: what the kernels are; absent: by the built-in table.
FlowRun make_flow_run(const Trace& trace, const Links& links,
                      std::shared_ptr<const KernelNames> kernels = {});

}  // namespace assay
