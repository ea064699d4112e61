#pragma once

// Host overhead by layer (TaxBreak, arXiv 2603.12465): framework translation (Python and dispatch),
// library translation and the launch-overhead floor of every kernel. The sum is T_Orchestration,
// which is compared with the time the device was active. This header uses a trace alone;
// overhead/measured.h uses isolated replays.
//
// As printed in the paper, an operator is charged its Python and dispatch once per kernel that it
// launches, and T_Orchestration may exceed wall time many times over (spec/overhead 2.2). By
// default every instant of a thread is charged once, so that no sum exceeds the time of the threads
// (spec/flow 7). The sums as printed are reported too, under their own names.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "floor/floor.h"
#include "kernels/names.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/phases.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

// Host time charged to a launch.
enum class HostOverheadMode : uint8_t {
  kExclusive,  // thread time that led to the launch and is not charged to an earlier launch
  kPaper,      // Eq. 4 as printed: T_Py + the dispatch base, whatever its own dispatch took
  kCode,       // as the authors' program: native kernels (I_lib = 0) pay their own dispatch
};
std::string_view overhead_mode_name(HostOverheadMode mode);
// True if the sums of this mode are as printed in the papers: they may exceed wall time.
constexpr bool is_literal(HostOverheadMode mode) { return mode != HostOverheadMode::kExclusive; }

// The dispatch base (Eq. 7) is the median of this population.
enum class BaseWeighting : uint8_t {
  kKernel,      // one mean value per unique native kernel (the authors' program)
  kInvocation,  // one value per invocation (Eq. 7 as printed)
};

struct HostOverheadOptions {
  HostOverheadMode mode = HostOverheadMode::kExclusive;
  BaseWeighting base_weighting = BaseWeighting::kKernel;
  bool count_copies = false;  // memcpy and memset rows count as kernels in N and T_Device
  std::optional<LaunchFloor> floor = std::nullopt;  // absent: found in the trace
  // Kernel kinds; null = use the built-in table.
  std::shared_ptr<const KernelNames> kernels = {};
};

// One row of Eq. 1: an invocation (invocations = 1), or a unique kernel and how often it ran.
struct KernelCost {
  bool library = false;  // I_lib
  uint64_t invocations = 1;
  // Invocations without host cost in the trace: all kernels of a call (a graph launch) but its
  // first, and kernels without a call in the trace.
  uint64_t unpaid = 0;
  int64_t t_py_ns = 0;        // T_Py
  int64_t t_dispatch_ns = 0;  // T_dispatch, Eq. 5
  // T_launch, Eq. 6; nullopt for all kernels of a graph launch but its first, and for kernels
  // without a call in the trace.
  std::optional<int64_t> t_launch_ns = std::nullopt;
  int64_t dur_ns = 0;   // t_k
  int64_t call_ns = 0;  // time in the launch call; exclusive mode only
};

// Sums of Eq. 1 to 8 over rows. ft_ns + ct_ns + kt_ns == t_orch_ns exactly, and
// ft_ns == t_py_ns + ft_dispatch_ns.
struct HostOverheadSums {
  uint64_t n = 0;         // N: kernel invocations
  uint64_t n_launch = 0;  // their API calls, each charged the launch-overhead floor
  int64_t t_py_ns = 0;
  // exclusive: own dispatch, for library kernels up to the base; paper: base per paid invocation;
  // code: base for library, own dispatch for native
  int64_t ft_dispatch_ns = 0;
  int64_t ft_ns = 0;              // sum of Delta FT
  int64_t ct_ns = 0;              // sum of I_lib x Delta CT
  int64_t kt_ns = 0;              // exclusive: time in launch calls; other modes: n_launch x
                                  // T_floor^sys
  int64_t kt_fw_ns = 0;           // sum of max(0, T_launch - launch-overhead floor): reported, not
                                  // in T_Orch
  int64_t t_orch_ns = 0;          // Eq. 2
  int64_t t_device_ns = 0;        // T_DeviceActive: a sum, not a union
  std::optional<double> hdbi;     // Eq. 3; absent without kernels, or with nothing charged
  int64_t host_observed_ns = 0;   // sum of T_Py + T_dispatch + T_launch (code only)
  int64_t host_framework_ns = 0;  // host_observed - n_launch x launch-overhead floor (code only)

  // False without a base: dispatch and library front end are then not separable, and T_Orch
  // contains both.
  bool split_known = true;

  // True if host time is charged for these rows. Otherwise 0 means unknown, not free: the trace has
  // no launch call, or has calls but neither operators nor a launch-overhead floor.
  bool charged() const { return n == 0 || t_orch_ns > 0; }
};

// Dispatch times this short are noise (the authors' rule, spec/overhead 2.1).
constexpr int64_t kDispatchNoiseNs = 100;

// Eq. 7, per unique kernel or per invocation, as the rows are weighted. Rows with a dispatch time
// that is noise do not count. nullopt if no native row is left: no CT split is meaningful then.
std::optional<int64_t> dispatch_base(const std::vector<KernelCost>& rows, BaseWeighting weighting);

// Eq. 3; absent without kernels, or with nothing charged.
std::optional<double> hdbi(uint64_t kernels, int64_t t_device_ns, int64_t t_orch_ns);

// Eq. 1 to 8 over rows with a given base and launch-overhead floor. n_launch: API calls that
// launched the rows.
HostOverheadSums sum_overhead(const std::vector<KernelCost>& rows, HostOverheadMode mode,
                              int64_t base_ns, int64_t floor_ns, uint64_t n_launch);

// The time of the host threads that led to launches, each moment once (overhead/exclusive.h). All
// parts are disjoint: total_ns + between_ns + waiting_ns <= threads_span_ns.
struct ExclusiveOverhead {
  int64_t py_ns = 0;
  int64_t dispatch_ns = 0;
  int64_t call_ns = 0;
  int64_t total_ns = 0;    // their sum: T_Orch, each moment once
  int64_t between_ns = 0;  // under an outer frame or operator, before T_Py: charged to no launch
  int64_t waiting_ns = 0;  // in calls that wait for the device or allocate, and in launch calls
                           // beyond kLaunchBackPressureNs
  int64_t threads_span_ns = 0;  // sum over threads of first open to last call end
};

// Thread time charged to one launch, without waits.
struct ExclusiveCost {
  int64_t py_ns = 0;
  int64_t dispatch_ns = 0;
  int64_t call_ns = 0;

  int64_t total_ns() const { return py_ns + dispatch_ns + call_ns; }
};

// Kernels with missing or implausible host data.
struct HostOverheadOrphans {
  uint64_t without_call = 0;  // kernels without a launch call in the trace
  int64_t without_call_ns = 0;
  uint64_t without_op = 0;  // kernels with a call that no operator encloses: no T_Py, no dispatch
  int64_t without_op_ns = 0;
  uint64_t without_py = 0;  // kernels with an operator that no frame or outer operator encloses:
                            // T_Py = 0
  uint64_t negative_launch_clamped = 0;  // -10 us < T_launch < 0, taken as 0
  uint64_t negative_launch_dropped = 0;  // T_launch <= -10 us, no T_launch
  uint64_t graph_followers = 0;          // kernels of a graph launch but its first: no T_launch
  uint64_t shared_followers = 0;         // the same for calls other than graph launches
};

struct FamilyOverhead {
  std::string name;      // family of spec/overhead 3.2, e.g. "GEMM (nvjet)"
  bool library = false;  // I_lib of most of its kernels
  uint64_t kernels = 0;
  uint64_t library_kernels = 0;  // of those, with I_lib = 1
  uint64_t unique_kernels = 0;
  double launch_p50_ns = 0;  // over the unique kernels' mean T_launch; NaN when none has one
  double launch_p95_ns = 0;
  double kt_fw_ns = 0;        // launch_p50 - launch-overhead floor, Table IV
  double share_of_floor = 0;  // kt_fw / launch-overhead floor
  int64_t t_py_ns = 0;
  int64_t ft_dispatch_ns = 0;
  int64_t ct_ns = 0;
  int64_t kt_ns = 0;
  int64_t t_orch_ns = 0;  // sums over the families to HostOverheadSums::t_orch_ns
  int64_t t_device_ns = 0;
};

enum class HostOverheadPhase : uint8_t { kNone, kPrefill, kDecode };
std::string_view overhead_phase_name(HostOverheadPhase phase);

// Everything about one window of host time.
struct HostOverheadWindow {
  std::string name;
  HostOverheadPhase phase = HostOverheadPhase::kNone;
  HostOverheadSums sums;  // by HostOverheadReport::mode
  HostOverheadSums
      literal;  // as printed, by the mode if that is literal, else kPaper; may exceed wall
  ExclusiveOverhead exclusive;
  std::optional<double> hdbi_exclusive;  // Eq. 3 with the exclusive total; absent as sums.hdbi
  HostOverheadOrphans orphans;
  // Wall time. For the whole trace, from the earliest operator, call or kernel to the last kernel's
  // end. For a window, from its start to its end or its last kernel's end, whichever is later.
  int64_t t_e2e_ns = 0;
  // The ratios are NaN where T_e2e is 0.
  double idle_fraction = 0;    // (T_e2e - T_DeviceActive) / T_e2e; negative when streams overlap
  double gpu_utilisation = 0;  // T_DeviceActive / T_e2e
  // Ratios of T_Orch as printed; both NaN if nothing is charged (HostOverheadSums::charged).
  double additivity = 0;                    // literal T_Orch / exclusive total; NaN when that is 0
  double orch_over_e2e = 0;                 // literal T_Orch / T_e2e
  uint64_t unique_names = 0;                // distinct names of kernels, as recorded
  double diversity_ratio = 0;               // unique_names / N
  std::optional<double> kernels_per_token;  // N / tokens, when the tokens of the window are known
};

// Means over iterations with Student's 95 % interval.
struct HostOverheadMeans {
  MeanInterval n;
  MeanInterval t_py_ns;
  MeanInterval ft_ns;
  MeanInterval ct_ns;
  MeanInterval kt_ns;
  MeanInterval kt_fw_ns;
  MeanInterval t_orch_ns;
  MeanInterval exclusive_ns;
  MeanInterval t_device_ns;
  MeanInterval t_e2e_ns;
  MeanInterval hdbi;
  MeanInterval idle_fraction;
};

// One kernel invocation of the trace with its host cost. Every sum is over these rows, in order of
// (window, launch).
struct HostOverheadRow {
  ActivityId kernel;
  ApiCallId call;                // none: orphan
  OpId op;                       // dispatch entry: the aten op, else the innermost op
  AnnotationId range;            // dispatch entry if ranges replace operators
  uint32_t window = UINT32_MAX;  // index into Windows; UINT32_MAX = outside all
  uint16_t family = 0;           // index into KernelBook::families()
  KernelCost cost;               // as printed: from the starts of its own entry and frame
  // Start of the dispatch entry, or of the call if there is none. In a backward pass, the time at
  // which the framework's engine took over.
  int64_t entry_ns = 0;
  // Start of T_Py, but not before the end of the previous outermost operator on its thread;
  // entry_ns if T_Py is unknown.
  int64_t py_ns = 0;
  ExclusiveCost exclusive;  // over the whole trace; of rows that own their call
  int64_t root_ns = 0;      // start of the outermost operator or frame around the call; of the call
  bool single_launch = false;    // its operator launches nothing else: eligible for the base
  bool paper_library = false;    // cost.library by the paper's convention, for literal sums
  bool library_by_call = false;  // cost.library rests on the launch call, not on the name
  bool follower = false;         // not the first kernel of its call
  bool without_py = false;       // has an entry, but nothing around it to measure T_Py from
  bool launch_clamped = false;
  bool launch_dropped = false;

  bool has_entry() const { return op || range; }
  bool owns_call() const { return call && !follower; }
};

struct HostOverheadReport {
  HostOverheadMode mode = HostOverheadMode::kExclusive;
  BaseWeighting base_weighting = BaseWeighting::kKernel;
  LaunchFloor floor;                       // T_floor^sys
  std::optional<int64_t> base_ns;          // T_dispatch_base; nullopt without a native kernel, used
                                           // as 0
  std::optional<int64_t> literal_base_ns;  // the same over kernels native by paper_library
  uint64_t base_samples = 0;               // number of unique kernels or invocations in it
  bool base_single_launch = true;  // false: no such native kernel, the base is over all of them
  bool ranges_as_ops = false;      // labelled ranges stood in for operators
  uint64_t copies_left_out = 0;    // copies and fills that are not counted as kernels
  HostOverheadWindow whole;
  WindowSource window_source = WindowSource::kWholeTrace;
  std::vector<HostOverheadWindow> windows;
  HostOverheadMeans means;
  std::vector<HostOverheadWindow> phases;  // prefill and decode, if separable; else empty
  uint64_t tokens = 0;                     // m, the decode steps; 0 = unknown
  PhaseSource phase_source = PhaseSource::kNone;
  std::string phase_text;                // source of the phases, or the reason why they are unknown
  std::vector<FamilyOverhead> families;  // largest t_orch_ns first
  uint64_t library_op_kernels = 0;  // kernels under a library-mediated op (mm, linear, sdpa, ...)
  bool with_stack = false;          // Python frames were recorded: T_Py is inflated
  std::vector<HostOverheadRow> rows;
  TrustNotes trust;
};

// Device time of collective kernels.
int64_t communication_ns(const HostOverheadReport& report);

// Fails on a launch-overhead floor above a second. A trace without kernels gives zeros and no HDBI,
// not an error.
Result<HostOverheadReport> analyze_overhead(const Trace& trace, const Links& links,
                                            const Windows& windows,
                                            const HostOverheadOptions& options);

}  // namespace assay
