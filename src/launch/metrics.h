#pragma once

// The metrics of SKIP (Vellaisamy et al., equations 1 to 5) on one trace, for the whole trace and
// for every iteration. TKLQT is the time of launches until they reach the device, AKD the kernel
// duration, IL the inference latency. GPU and CPU idle time are parts of IL.
//
// Assumes that host and device times share one clock. Caveats and brackets show the effect of that
// assumption, of unlinked rows and of coarse timestamps. Launch metrics do not describe kernels
// that a CUDA graph replays: a graph has one launch, independent of its content.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "base/result.h"
#include "base/stats.h"
#include "floor/floor.h"
#include "flow/causes.h"
#include "kernels/names.h"
#include "launch/idle.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

struct LaunchOptions {
  std::optional<LaunchFloor> floor = std::nullopt;  // F; nullopt = find it in the trace
  bool count_copies = false;  // memcpy and memset also make the GPU busy (union only, never Eq. 5)
  size_t top_kernels = 10;    // rows of LaunchReport::top_kernels; 0 = all
  // joint_flow of the trace: why the device was idle. Null = causes are unknown.
  const DeviceFlow* flow = nullptr;
  // Kernel kinds; null = use the built-in table.
  std::shared_ptr<const KernelNames> kernels = {};
};

// Which event is p_1, the start of the inference-latency window.
enum class OriginSource : uint8_t {
  kRootOpWithKernel,  // earliest outermost operator around a launch call with a kernel (SKIP Eq. 4)
  kEarliestOp,        // no operator has a kernel: earliest outermost operator
  kEarliestLaunch,    // no operators at all: earliest host call with a kernel
  kEarliestKernel,    // device rows only: earliest kernel
  kNone,              // no kernels
};
std::string_view origin_source_name(OriginSource source);

// Range of a number, given the caveats.
struct Bracket {
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  bool refused = false;  // the trace does not support the number; low = high = 0
  std::string reasons;   // keys of the caveats that widen or refuse it, comma separated
};

// Distribution of t_l over the launches that have one. Quantiles are type 7; NaN when n = 0.
struct LaunchTimeStats {
  uint64_t n = 0;
  double mean_ns = 0;
  double p5_ns = 0;
  double p50_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
};

// Metrics of one window. Parts that sum to wholes, exactly:
//   gpu_idle_eq5_ns = il_ns - kernel_sum_ns                                  (SKIP Eq. 5)
//   gpu_idle_union_ns = il_ns - busy_in_window_ns = the parts of `idle`, if known
//   cpu_idle_ns = il_ns - cpu_busy_ns = cpu_blocked_ns + cpu_unrecorded_ns
//   tklqt_ns = floor_sum_ns + queue_sum_ns
struct LaunchMetrics {
  std::string name;         // of the window
  int64_t origin_ns = 0;    // start of p_1
  int64_t last_end_ns = 0;  // largest end of a kernel of the window
  OriginSource origin = OriginSource::kNone;

  uint64_t kernels = 0;   // n: kernels with a launch call that starts in the window, or without a
                          // call, that start in it on the device
  uint64_t linked = 0;    // of those, with a launch call in the trace
  uint64_t launches = 0;  // n_launch: host calls with at least one of these kernels
  uint64_t graph_kernels = 0;  // of the kernels, launched by a graph launch
  int64_t graph_kernel_sum_ns = 0;
  uint64_t graph_launches = 0;  // of the launches, graph launches

  int64_t tklqt_ns = 0;  // Eq. 2: sum of t_l over launches that have one
  Bracket tklqt_bracket;
  LaunchTimeStats launch_time;  // Eq. 1
  uint64_t clamped = 0;         // launches with -10 us < t_l < 0, taken as 0
  int64_t clamped_ns = 0;       // sum of -t_l over them
  int64_t clamped_max_ns = 0;   // largest -t_l of them
  uint64_t dropped = 0;         // launches with t_l <= -10 us, left out
  int64_t dropped_ns = 0;       // sum of -t_l over them

  double akd_ns = 0;              // Eq. 3: kernel_sum_ns / kernels; NaN without kernels
  int64_t il_ns = 0;              // Eq. 4: last_end_ns - origin_ns, never below 0
  int64_t kernel_sum_ns = 0;      // sum of t_k over the n kernels
  int64_t kernel_union_ns = 0;    // time in which at least one of them ran, inside IL or not
  int64_t busy_in_window_ns = 0;  // the part of that union in [origin, last end); with
                                  // count_copies, copies and fills of the window included
  int64_t gpu_idle_eq5_ns = 0;    // Eq. 5; negative when kernels overlap enough
  int64_t gpu_idle_union_ns = 0;  // never negative
  Bracket gpu_idle_bracket;       // of gpu_idle_union_ns

  bool cpu_idle_known = false;  // false: no thread dispatched anything
  ThreadId dispatching_thread;  // most launches in the window; ties go to the smaller id
  uint64_t other_thread_launches = 0;
  int64_t cpu_busy_ns = 0;  // in root operators and calls, less blocking calls
  int64_t cpu_idle_ns = 0;
  int64_t cpu_blocked_ns = 0;     // in synchronising calls, and in launch calls beyond 100 us
  int64_t cpu_unrecorded_ns = 0;  // neither operator nor call
  double cpu_blocking_share = 0;  // cpu_blocked_ns / cpu_idle_ns; NaN when idle is 0

  bool idle_told = false;  // LaunchOptions::flow was given, so `idle` is known
  IdleTime idle;           // gpu_idle_union_ns by cause

  int64_t floor_sum_ns = 0;  // sum of min(t_l, F)
  int64_t queue_sum_ns = 0;  // sum of t_l - min(t_l, F)
  double queue_share = 0;    // queue_sum_ns / tklqt_ns; NaN without F or with TKLQT 0
};

// Means over iterations with Student's 95 % interval. Iterations without kernels are left out.
struct LaunchMeans {
  MeanInterval kernels;
  MeanInterval launches;
  MeanInterval tklqt_ns;
  MeanInterval akd_ns;
  MeanInterval il_ns;
  MeanInterval kernel_sum_ns;
  MeanInterval kernel_union_ns;
  MeanInterval gpu_idle_eq5_ns;
  MeanInterval gpu_idle_union_ns;
  MeanInterval cpu_idle_ns;
  MeanInterval launch_time_mean_ns;
  MeanInterval queue_share;
};

// One kernel name. Ordered by count, then launch_queue_sum_ns, then name (spec/launch 2).
struct TopKernel {
  std::string name;
  KernelKind kind = KernelKind::kOther;
  uint64_t count = 0;  // kernels of that name, linked or not
  uint64_t timed = 0;  // of those, with a t_l: the base of launch_queue_mean_ns
  int64_t launch_queue_sum_ns = 0;
  double launch_queue_mean_ns = 0;  // over `timed`; NaN when 0
  int64_t dur_sum_ns = 0;
  int64_t dur_in_il_ns = 0;  // the part of that sum between origin and last end of the whole trace
  double dur_mean_ns = 0;    // over `count`
};

struct LaunchReport {
  LaunchMetrics whole;
  WindowSource window_source = WindowSource::kWholeTrace;
  std::string window_evidence = {};       // Windows::evidence
  std::vector<LaunchMetrics> iterations;  // one per window, in order
  std::vector<Interval> idle_gaps;        // of the whole: gpu_idle_union_ns, merged
  LaunchMeans means;
  uint64_t iterations_without_kernels = 0;
  uint64_t kernels_outside_iterations = 0;
  LaunchFloor floor;
  bool copies_counted = false;  // LaunchOptions::count_copies
  size_t kernel_names = 0;      // distinct, before the cut to top_kernels
  std::vector<TopKernel> top_kernels;
  TrustNotes trust;
};

// Fails on a launch-overhead floor above a second. A trace without kernels gives zeros and
// refusals, not an error.
Result<LaunchReport> analyze_launch(const Trace& trace, const Links& links, const Windows& windows,
                                    const LaunchOptions& options);

}  // namespace assay
