#pragma once

// What the dependency graph says about one traced run: causes of idle time, critical path, and how
// much of the run the model explains.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/intervals.h"
#include "flow/causes.h"
#include "flow/decision.h"
#include "flow/graph.h"
#include "flow/job.h"
#include "flow/path.h"
#include "flow/replays.h"
#include "flow/run.h"
#include "flow/serving.h"
#include "flow/stretches.h"
#include "kernels/names.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct FlowOptions {
  std::optional<Interval> window = {};  // what is judged; none = see FlowReport::window
  size_t contributors = 8;              // named per cause
  // Graphs that were recorded in other traces of the program; those of this one are known.
  std::shared_ptr<const std::vector<CapturedGraph>> captures = {};
  bool rank_graph = false;           // keep what comparing this rank with others of its job needs
  const Windows* windows = nullptr;  // for it: what numbers iterations; may be none
  // What the kernels are; absent: by the built-in table.
  std::shared_ptr<const KernelNames> kernels = {};
  // A labelled step around the first launch is part of what is judged; none: no step is known.
  const Windows* steps = nullptr;
};

// How well the model reproduces the record, from its begin to the end of the last device work that
// the host asked for, as gains are told: what a host does after it ends nothing. Shares are NaN for
// a run without such work.
struct FlowFit {
  uint64_t points = 0;
  uint64_t identity_errors = 0;  // points that a replay without edits misses: 0
  int64_t run_ns = 0;
  int64_t model_ns = 0;          // the same without residuals, with usual lags
  double model_error = 0;        // (model_ns - run_ns) / run_ns
  double unexplained_share = 0;  // residuals on the critical path to that end / run_ns
  uint64_t cut_edges = 0;
  uint64_t hand_overs = 0;
};

// What the answer rests on.
struct FlowEvidence {
  uint64_t works = 0;         // pieces of device work that begin in the window
  int64_t work_ns = 0;        // their summed durations
  int64_t linked_ns = 0;      // of these, with a launch call in the trace
  uint64_t launch_calls = 0;  // launch calls of the trace
  uint64_t idle_launch_calls =
      0;                  // of these, without work in the trace: captured into a graph, or cut
  int64_t kernel_ns = 0;  // summed durations by kind, in the window
  int64_t collective_ns = 0;
  int64_t copy_ns = 0;
  uint64_t kernels = 0;
  int64_t graph_work_ns = 0;  // of work_ns, launched by graph launches
  int64_t captured_ns = 0;    // of the window, in which a launching thread recorded a graph
  uint64_t captures = 0;
  // Nearly every launch call returns only after its kernel has ended (CUDA_LAUNCH_BLOCKING).
  bool blocking_launches = false;
  // The run trains, or goes through the profiler's steps: it asks itself for its work, and serves
  // nobody.
  bool loops = false;
  // Work that begins before the call that launched it did: clocks that differ.
  uint64_t early_works = 0;
  int64_t early_ns = 0;    // the most of it
  uint64_t processes = 0;  // that launch work
  // Waits that return before what they waited for has ended: clocks that differ the other way.
  uint64_t sure_returns = 0;
  uint64_t early_returns = 0;
  int64_t early_return_ns = 0;  // the most of it
  bool calls = false;
  bool ops = false;
  bool frames = false;
  // Operators and calls that threads which launch work made in the window: a profiler that records
  // operators spends some time on each.
  uint64_t host_rows = 0;
  uint64_t recorded_waits = 0;
  uint64_t inferred_waits = 0;
  // Idle time of `sync` and `call` in calls that copy from pageable memory or to it, or that wait
  // for such a copy right behind it.
  int64_t pageable_to_host_ns = 0;
  int64_t pageable_to_device_ns = 0;
  int64_t pageable_ns() const { return pageable_to_host_ns + pageable_to_device_ns; }
  uint64_t whole_graphs = 0;  // graphs that ran as one row, without their kernels
  int64_t migration_ns = 0;   // of copy_ns, pages of managed memory that no call moved
  // What work waits for lies within graphs, at the same nodes each time, and has no row.
  bool graph_holes = false;
  // Calls that put a host function on a stream: the device waits for the host there.
  uint64_t host_functions = 0;
};

// Whether the graph explains the run well enough that replays with edits are told.
enum class Misfit { kNone, kModelError, kUnexplained };
Misfit misfit_of(const FlowFit& fit);

// By how much at least the clocks of host and device differ, as causality tells: work that begins
// before its launch (host ahead of the device's clock), or waits that return before what they
// waited for has ended. 0 where too few rows say so.
struct ClockGap {
  int64_t ns = 0;
  bool device_late = false;  // the device's rows stand too late, else too early
};
ClockGap clock_gap(const FlowEvidence& evidence);

struct FlowReport {
  Interval run;  // from the first event to the end of the last work
  // What is judged: of each device from when the host set out to make its first launch (the
  // outermost operator around it), or its first work if that is earlier, to the end of its last
  // work. What was done before anything was asked of a device, and after, is no idle time of it.
  std::vector<Interval> device_windows;
  Interval window;           // from the first begin of these to the last end
  bool told_window = false;  // it was given, and not found
  // Parts of the window that the recorder left out. No total has them.
  std::vector<Interval> unrecorded;
  std::vector<DeviceFlow> devices;
  DeviceFlow joint;                       // of several devices: all_devices()
  std::vector<FlowTotals> device_totals;  // per device, of its window
  FlowTotals total;                       // over all devices
  DeviceOverlap overlap;                  // of the devices, in `window`
  FlowTotals before;                      // between the begin of the run and these windows
  std::vector<Contributor> contributors;  // of the window, over all devices
  FlowFloors floors;
  FlowEvidence evidence;
  FlowFit fit;
  CriticalPath path;  // without what the recorder left out
  Decision decision;                    // from the table of gains; of all devices together
  ReplayReport replays;                        // of graphs, over the whole run
  std::optional<RankGraph> rank_graph;         // where asked for
  std::shared_ptr<const KernelNames> kernels;  // as used
  Stretches stretches;                         // of the recording, where judge_run() made this
  Serving serving;                             // steps of an engine in the window, by judge_run()

  // Length of the window, without what the recorder left out.
  int64_t window_ns() const { return window.end_ns - window.start_ns - length_ns(unrecorded); }
  // joint_flow of the run.
  const DeviceFlow& all_devices() const { return devices.size() == 1 ? devices.front() : joint; }
};

// Idle time in which no row states what the host does, and pages of managed memory move.
int64_t idle_in_page_moves_ns(const FlowReport& report);

// The run with its graph, for who asks more of it than the report. trace and links must outlive it.
struct FlowModel {
  FlowRun run;
  FlowGraph graph;
};
FlowModel make_flow_model(const Trace& trace, const Links& links,
                          std::shared_ptr<const KernelNames> kernels = {});

FlowReport make_flow_report(const FlowModel& model, const FlowOptions& options);
FlowReport make_flow_report(const Trace& trace, const Links& links, const FlowOptions& options);
// What `whole` says, of one part of its window. bounded: bounded_graph() of the model to the part.
FlowReport make_part_report(const FlowModel& model, const FlowGraph& bounded,
                            const FlowReport& whole, Interval part, const FlowOptions& options);
// Totals of all devices in a part of the report's window, each in what is judged of it.
FlowTotals totals_of(const FlowRun& run, const FlowReport& report, Interval part);

}  // namespace assay
