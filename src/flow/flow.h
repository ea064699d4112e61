#pragma once

// Analysis of one traced run by its dependency graph: causes of idle time, critical path, and how
// well the model explains the run.

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
  std::optional<Interval> window = {};  // analyzed interval; none: see FlowReport::window
  size_t contributors = 8;              // most contributors per cause
  // CUDA/HIP graphs captured in other traces of the program, in addition to those of this trace.
  std::shared_ptr<const std::vector<CapturedGraph>> captures = {};
  bool rank_graph = false;           // also make FlowReport::rank_graph
  const Windows* windows = nullptr;  // numbers the rank graph's iterations; may be null
  // Kernel classification; null: the built-in table.
  std::shared_ptr<const KernelNames> kernels = {};
  // Labelled steps; null: none. The window then covers the step around the first launch.
  const Windows* steps = nullptr;
};

// How well the model reproduces the record, from the run's begin to the end of the last device work
// that counts (last_work()). Shares are NaN if there is none.
struct FlowFit {
  uint64_t points = 0;
  uint64_t identity_errors = 0;  // points that a replay without edits gets wrong; must be 0
  int64_t run_ns = 0;
  int64_t model_ns = 0;          // run_ns without residuals, with typical lags
  double model_error = 0;        // (model_ns - run_ns) / run_ns
  double unexplained_share = 0;  // residuals on the critical path / run_ns
  uint64_t cut_edges = 0;
  uint64_t hand_overs = 0;
};

// What the recording contains, and how reliable it is.
struct FlowEvidence {
  uint64_t works = 0;         // device activities that begin in the window
  int64_t work_ns = 0;        // their summed durations, without helpers
  int64_t linked_ns = 0;      // summed durations of those with a launch call
  int64_t carried_ns = 0;     // of those queued before the recording began (Links::carried_over)
  uint64_t launch_calls = 0;  // launch calls of the trace
  // Launch calls without work in the trace: captured into a graph, or the work is missing.
  uint64_t idle_launch_calls = 0;
  int64_t kernel_ns = 0;  // summed durations by kind, in the window
  int64_t collective_ns = 0;
  int64_t copy_ns = 0;
  uint64_t kernels = 0;
  int64_t graph_work_ns = 0;  // launched by graph launches
  int64_t captured_ns = 0;    // time in the window during stream capture
  uint64_t captures = 0;
  // Nearly every launch call returns only after its kernel has ended (CUDA_LAUNCH_BLOCKING).
  bool blocking_launches = false;
  // The run trains or has profiler steps: it generates its own work and serves no requests.
  bool loops = false;
  // Work that begins before its launch call: the clocks differ.
  uint64_t early_works = 0;
  int64_t early_ns = 0;    // maximum
  uint64_t processes = 0;  // number that launch work
  // Waits that return before their work ended, out of those with known work: the clocks differ the
  // other way.
  uint64_t sure_returns = 0;
  uint64_t early_returns = 0;
  int64_t early_return_ns = 0;  // maximum
  bool calls = false;
  bool ops = false;
  bool frames = false;
  // Operators and calls in the window on threads that launch work. A profiler adds overhead to
  // each.
  uint64_t host_rows = 0;
  uint64_t recorded_waits = 0;
  uint64_t inferred_waits = 0;
  // Idle time of kSync and kCall in calls that copy from or to pageable memory, or that wait for
  // such a copy right after it.
  int64_t pageable_to_host_ns = 0;
  int64_t pageable_to_device_ns = 0;
  uint64_t whole_graphs = 0;  // graph launches recorded as one event, without kernels
  int64_t migration_ns = 0;   // managed-memory page migrations
  // Most late time is inside graphs, before the same nodes in nearly every replay: unrecorded parts
  // of the graph.
  bool graph_holes = false;
  // Calls that enqueue a host function: the stream waits for the host there.
  uint64_t host_functions = 0;
};

// Why replays with edits are not reported: the graph explains the run too poorly.
enum class Misfit { kNone, kModelError, kUnexplained };
Misfit misfit_of(const FlowFit& fit);

// Lower bound on the difference between host and device clocks, from causality: work that begins
// before its launch, or waits that return before their work ended. 0 if too few events show it.
struct ClockGap {
  int64_t ns = 0;
  bool device_late = false;  // device times are too late; else too early
};
ClockGap clock_gap(const FlowEvidence& evidence);

struct FlowReport {
  Interval run;  // from the first event to the end of the last work
  // The analyzed interval of each device: from the begin of the outermost operator around its first
  // launch, or its first work if that is earlier, to the end of its last work. Time outside is not
  // idle time.
  std::vector<Interval> device_windows;
  Interval window;           // hull of device_windows
  bool told_window = false;  // the window was given by the caller
  // Unrecorded parts of the window; excluded from all totals.
  std::vector<Interval> unrecorded;
  std::vector<DeviceFlow> devices;
  DeviceFlow joint;                       // unless there is exactly one device; see all_devices()
  std::vector<FlowTotals> device_totals;  // per device, over its window
  FlowTotals total;                       // over all devices
  DeviceOverlap overlap;                  // of the devices, in `window`
  FlowTotals before;                      // from the run's begin to each device's window
  std::vector<Contributor> contributors;  // of the window, over all devices
  FlowFloors floors;
  FlowEvidence evidence;
  FlowFit fit;
  CriticalPath path;  // without unrecorded time
  Decision decision;                    // from the table of gains, over all devices
  ReplayReport replays;                        // of CUDA/HIP graphs, over the whole run
  std::optional<RankGraph> rank_graph;         // if requested
  std::shared_ptr<const KernelNames> kernels;  // the classification used
  Stretches stretches;                         // parts of the recording, if judge_run() made this
  // Engine steps in the window, if judge_run() made this.
  Serving serving;

  // Length of the window without unrecorded time.
  int64_t window_ns() const { return window.end_ns - window.start_ns - length_ns(unrecorded); }
  // Timeline of all devices as one (joint_flow()).
  const DeviceFlow& all_devices() const { return devices.size() == 1 ? devices.front() : joint; }
};

// Idle time in ns in which managed-memory pages move and no host event explains it.
int64_t idle_in_page_moves_ns(const FlowReport& report);

// The run with its graph, for further analyses. trace and links must outlive it.
struct FlowModel {
  FlowRun run;
  FlowGraph graph;
};
FlowModel make_flow_model(const Trace& trace, const Links& links,
                          std::shared_ptr<const KernelNames> kernels = {});

FlowReport make_flow_report(const FlowModel& model, const FlowOptions& options);
FlowReport make_flow_report(const Trace& trace, const Links& links, const FlowOptions& options);
// The report on one part of `whole`'s window. bounded: bounded_graph() of the model for the part.
FlowReport make_part_report(const FlowModel& model, const FlowGraph& bounded,
                            const FlowReport& whole, Interval part, const FlowOptions& options);
// Totals over all devices in `part`, each clipped to its device window, without unrecorded time.
FlowTotals totals_of(const FlowRun& run, const FlowReport& report, Interval part);

}  // namespace assay
