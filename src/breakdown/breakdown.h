#pragma once

// Hierarchical breakdown of GPU time (Chopper, arXiv 2512.08242). Every GPU activity gets its
// operation, layer, phase, iteration and GPU without manual annotations. Every compute kernel gets
// its launch overhead (equations 1 to 3), its wait for collectives, and its overlap with them.
// breakdown/ranks.h combines many ranks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/cause.h"
#include "flow/meetings.h"
#include "kernels/names.h"
#include "kernels/views.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

enum class LevelPhase : uint8_t {
  kNone,
  kForward,
  kBackward,
  kRecompute,  // forward work repeated in the backward pass (activation checkpointing)
  kOptimizer,
  kPrefill,
  kDecode,
};
std::string_view level_phase_name(LevelPhase phase);
// The phase of that name; nothing for other texts.
std::optional<LevelPhase> level_phase_from(std::string_view name);

// Source of an activity's operation, in falling priority.
enum class PlacedBy : uint8_t {
  kNone,
  kMap,         // a rule of the user's mapping file
  kLabel,       // a record_function / NVTX label
  kModule,      // the nn.Module frames around the launch
  kFlow,        // backward: the fwdbwd flow to the forward operator
  kSequence,    // backward: the autograd sequence number of the forward operator
  kBetween,     // backward: the only operator that could make the node, between two numbers
  kGradient,    // backward: AccumulateGrad
  kStructure,   // a block of operators or kernels that repeats
  kOperator,    // the operator's own name
  kCollective,  // the collective's own kind
  kOptimizer,   // an optimizer's label or operators
  kTwin,        // the same run of kernels, launched inside the trace
  kRecording,   // a graph's replay: the launch that was recorded
  kKernelName,  // the kernel's own name, outside every repeating block
};
constexpr size_t kPlacedBy = 15;
std::string_view placed_by_name(PlacedBy by);
// True if `by` is inferred from similarity, to repeated sequences or to another iteration. Nothing
// recorded for the activity shows its operation then.
bool is_likeness(PlacedBy by);

// Why an activity has no operation.
enum class UnplacedReason : uint8_t {
  kPlaced,
  kCarriedOver,  // queued before the window: its launch is not in the trace
  kNoLaunch,     // its launch is not in the trace
  kNoOperator,   // launched outside every operator, module and label
  kNoForward,    // backward work without its forward operator in the trace
  kGraphReplay,  // replayed by a graph, and no repeating block was found in it
};
constexpr size_t kUnplacedReasons = 6;
std::string_view unplaced_reason_name(UnplacedReason reason);

constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();
constexpr int32_t kNoLayer = -1;
constexpr int32_t kNoIteration = -1;

// Layers that lie one after the other: modules of one class in one place of the module tree, or a
// block of operators or kernels that repeats. Layers of all stacks are numbered through where there
// are several; the only stack keeps its own numbers.
struct LayerStack {
  std::string name;    // "Qwen2DecoderLayer", "block of 20 kernels"; empty = from labels
  int32_t first = 0;   // number of its first layer
  int32_t places = 0;  // numbers it takes
  int32_t layers = 0;  // of these, with work
};
constexpr int32_t kNoStack = -1;
// The stack of a layer; kNoStack for kNoLayer.
int32_t stack_of(const std::vector<LayerStack>& stacks, int32_t layer);

// One GPU activity. Every table of this module is a sum of these. Times in ns.
struct KernelLevel {
  ActivityId activity;
  StringId kernel;      // name as recorded
  int64_t gpu = 0;      // device index as recorded
  int32_t window = -1;  // index into Windows; -1 = outside all
  int32_t layer = kNoLayer;
  uint32_t op = 0;  // into BreakdownReport::op_names
  LevelPhase phase = LevelPhase::kNone;
  OpType op_type = OpType::kOther;
  PlacedBy by = PlacedBy::kNone;
  UnplacedReason unplaced = UnplacedReason::kPlaced;
  bool phase_by_name = false;  // from the kernel's name only: likely, not recorded
  bool comm = false;           // op_type == kComm
  bool compute = false;        // in the equations: a kernel that is not a collective
  bool timed = false;          // has a predecessor on its GPU, so that the equations are defined

  int64_t t_l_ns = kNoTime;  // start of the launch call; kNoTime = none in the trace
  int64_t t_ks_ns = 0;
  int64_t t_ke_ns = 0;

  // The bubble before it; these are disjoint and sum to it.
  int64_t prep_ns = 0;        // Eq. 1: idle, and the launch was waited for
  int64_t call_ns = 0;        // Eq. 2: the same, starting at the launch call
  int64_t comm_wait_ns = 0;   // waited for a collective
  int64_t comm_alone_ns = 0;  // a collective ran while the host had not launched yet
  int64_t copy_ns = 0;        // a copy or fill ran, and no collective
  int64_t other_idle_ns = 0;  // idle for another reason than a launch
  int64_t unrecorded_ns = 0;  // in addition to its bubble: time there that the recorder missed
  int64_t overlap_ns = 0;     // of its duration, time in which a collective ran
  int64_t concurrent_ns = 0;  // of its duration, time in which an earlier compute kernel still ran
  int64_t inner_bubble_ns = 0;  // its bubble, when the kernel before belongs to the same operation

  int64_t dur_ns() const { return t_ke_ns - t_ks_ns; }
  int64_t launch_ns() const { return prep_ns + call_ns; }  // Eq. 3
};

// Sums over a group of kernels. Ratios are taken after summing, never averaged.
struct LevelSums {
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
  int64_t prep_ns = 0;
  int64_t call_ns = 0;
  int64_t launch_ns = 0;
  int64_t comm_wait_ns = 0;
  int64_t comm_alone_ns = 0;
  int64_t copy_ns = 0;
  int64_t other_idle_ns = 0;
  int64_t overlap_ns = 0;
  int64_t concurrent_ns = 0;
  int64_t op_dur_ns = 0;    // operation duration: dur_ns and the bubbles inside the operation
  int64_t likeness_ns = 0;  // of dur_ns, attributed by similarity

  void add(const KernelLevel& row);
  void add(const LevelSums& other);
  // Between kernels: launch overhead, waits, other work and other idle time.
  int64_t bubble_ns() const {
    return launch_ns + comm_wait_ns + comm_alone_ns + copy_ns + other_idle_ns;
  }
  double overlap_ratio() const;  // overlap_ns / dur_ns; NaN without duration
};

// One row of the result: everything that is the same on six levels.
struct LevelCell {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  int32_t layer = kNoLayer;
  uint32_t op = 0;
  OpType op_type = OpType::kOther;
  LevelSums sums;
};

// Sums per kernel name below an operation, over iterations and layers.
struct LevelKernelCell {
  LevelPhase phase = LevelPhase::kNone;
  int32_t stack = kNoStack;
  uint32_t op = 0;
  std::string kernel;  // shortened for display
  LevelSums sums;
};

// One GPU in one iteration (iter = kNoIteration: outside all). Exact over its compute kernels:
//   dur_ns - concurrent_ns + bubble_ns() == span_ns
// span_ns ends with the last of them and starts at the end of the previous iteration, so spans of
// successive iterations adjoin. Time that the recorder missed is not part of it.
struct LevelSpan {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  int64_t start_ns = 0;
  int64_t span_ns = 0;
  LevelSums compute;
  LevelSums first;  // of compute, the first kernel alone: its bubble opens the iteration
  uint64_t comm_kernels = 0;
  int64_t comm_ns = 0;          // union of the collectives
  int64_t exposed_comm_ns = 0;  // of that, time in which no compute kernel ran
  std::optional<int64_t> tokens;
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();  // tokens / span
};

// Time range of the compute kernels of a GPU, by their times alone, and activities outside that
// range.
struct GpuExtent {
  int64_t gpu = 0;
  int64_t first_ns = 0;       // first start
  int64_t last_ns = 0;        // last end
  int64_t unrecorded_ns = 0;  // of the time between, what the recorder left out
  // Before the first or after the last of them: the union of the collectives, and of copies and
  // fills that overlap none.
  int64_t comm_outside_ns = 0;
  int64_t copy_outside_ns = 0;

  int64_t span_ns() const { return last_ns - first_ns - unrecorded_ns; }
};

// One collective of this rank.
struct CollectiveEvent {
  uint32_t group = 0;  // into BreakdownReport::groups
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  int64_t seq = -1;  // number in the process group, as recorded; -1 = unknown
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Coverage of the attribution.
struct PlacementCount {
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
};
struct PlacementStats {
  PlacementCount all;
  PlacementCount unplaced;       // no operation
  PlacementCount no_layer;       // operation known, outside every layer
  PlacementCount no_phase;       // no source shows the phase
  PlacementCount phase_by_name;  // only the kernel's name shows it
  std::array<PlacementCount, kPlacedBy> by = {};
  std::array<PlacementCount, kUnplacedReasons> reasons = {};
  int64_t layers = 0;        // distinct layers
  std::string layer_source;  // "module Qwen2DecoderLayer", "repeating block of 14 operators", ...
  uint64_t flows = 0;        // fwdbwd flows with both operators found
  uint64_t flows_agree = 0;  // of those, flows with the forward operator that the sequence number
                             // gives
  uint64_t flows_compared = 0;  // of those, with a sequence number to compare
};

// Which equations are used.
enum class LevelDefinition : uint8_t {
  kAssay,    // running maximum of ends over streams; waits for collectives apart
  kChopper,  // of the published tool: starts at the previous row's end; waits count as launch
             // overhead
};

struct LevelRule;     // breakdown/mapping.h
struct ReplayReport;  // flow/replays.h
struct DeviceFlow;    // flow/causes.h

struct BreakdownOptions {
  LevelDefinition definition = LevelDefinition::kAssay;
  const std::vector<LevelRule>* rules = nullptr;  // the mapping file; null if there is none
  // Kernel kinds; null = use the built-in table.
  std::shared_ptr<const KernelNames> kernels = {};
  // Idle causes of this trace's devices, if already known; null = compute them here.
  const std::vector<DeviceFlow>* flow = nullptr;
  // Kernels to explain: a part of their names, recorded or as shown (describe_kernel), or a pattern
  // with * or ? for all of it. Empty = none.
  std::string explain = {};
  // Replays joined to attributed captures (breakdown/place.h); null = attribute by structure alone.
  const ReplayReport* replays = nullptr;
};

// GPU activities with the same name, attribution and source, and the events around the first of
// them. A user can check the attribution with it.
struct PlacementEvidence {
  std::string kernel = {};  // name as recorded
  std::string op = {};
  LevelPhase phase = LevelPhase::kNone;
  std::string stack = {};          // of layers; empty = in none, or from labels
  int32_t first_layer = kNoLayer;  // least and greatest, counted in the stack where it is named
  int32_t last_layer = kNoLayer;
  PlacedBy by = PlacedBy::kNone;
  UnplacedReason unplaced = UnplacedReason::kPlaced;
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
  // For the first of them to start:
  std::string iteration = {};               // empty = outside all
  std::string call = {};                    // that launched it; empty = none recorded
  std::vector<std::string> operators = {};  // around the launch, outermost first
  std::vector<std::string> labels = {};     // as operators
  std::string module = {};                  // path of nn.Modules around the launch; empty = none
  std::string forward = {};                 // of backward work, the forward operator
  std::string recorded = {};                // of a replay, the operator in its recording
};

struct BreakdownReport {
  LevelDefinition definition = LevelDefinition::kAssay;
  std::vector<std::string> op_names;  // by KernelLevel::op; 0 = unattributed
  std::vector<KernelLevel> rows;      // in order of (gpu, t_ks, activity)
  std::vector<LevelCell> cells;       // in order of all their keys
  std::vector<LevelKernelCell> kernels;
  std::vector<LevelSpan> spans;    // in order of (gpu, iter)
  std::vector<GpuExtent> extents;  // by gpu
  std::vector<LayerStack> stacks;  // in order of their layers
  CauseTimes idle_ns{};            // idle time between kernels other than launch overhead, by cause
  std::vector<CollectiveGroup> groups;
  std::vector<CollectiveEvent> collectives;  // by group, then start
  std::vector<int32_t> iterations;           // number of every window, as printed
  WindowSource window_source = WindowSource::kWholeTrace;
  std::string window_evidence = {};  // Windows::evidence
  PlacementStats placement;
  std::vector<PlacementEvidence>
      evidence;  // longest first; as asked with BreakdownOptions::explain
  TrustNotes trust;
};

// Fails only on an invalid mapping. A trace without kernels gives empty tables.
Result<BreakdownReport> analyze_breakdown(const Trace& trace, const Links& links,
                                          const Windows& windows, const BreakdownOptions& options);

}  // namespace assay
