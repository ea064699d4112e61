#pragma once

// Hierarchical breakdown of GPU time (Chopper, arXiv 2512.08242). Attributes every GPU activity to
// operation, layer, phase, iteration and GPU without manual annotations. Computes for every compute
// kernel its launch overhead (equations 1 to 3), its wait for collectives, and its overlap with
// them. breakdown/ranks.h combines the ranks of a job.

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
// Inverse of level_phase_name(); nullopt for other texts.
std::optional<LevelPhase> level_phase_from(std::string_view name);

// Source of an activity's operation, highest priority first.
enum class PlacedBy : uint8_t {
  kNone,
  kMap,         // a rule of the user's mapping file
  kLabel,       // a record_function / NVTX label
  kModule,      // the nn.Module frames around the launch
  kFlow,        // backward: the fwdbwd flow from the forward operator
  kSequence,    // backward: the autograd sequence number of the forward operator
  kBetween,     // backward: the only forward operator that fits between two sequence numbers
  kGradient,    // backward: AccumulateGrad
  kStructure,   // a repeating block of operators or kernels
  kOperator,    // the operator's own name
  kCollective,  // the kind of the collective
  kOptimizer,   // an optimizer's label or operator
  kTwin,        // an identical sequence of kernels, launched inside the trace
  kRecording,   // graph replay: the captured launch
  kKernelName,  // the kernel's name, outside every repeating block
};
constexpr size_t kPlacedBy = 15;
std::string_view placed_by_name(PlacedBy by);
// True if `by` infers the operation from similarity to a repeated sequence or another iteration.
// Nothing recorded for the activity itself shows its operation then.
bool is_likeness(PlacedBy by);

// Why an activity has no operation.
enum class UnplacedReason : uint8_t {
  kPlaced,
  kCarriedOver,  // queued before the trace began; its launch is not recorded
  kNoLaunch,     // its launch is not recorded
  kNoOperator,   // launched outside every operator, module and label
  kNoForward,    // backward work without its forward operator in the trace
  kGraphReplay,  // replayed by a graph in which no repeating block was found
};
constexpr size_t kUnplacedReasons = 6;
std::string_view unplaced_reason_name(UnplacedReason reason);

constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();
constexpr int32_t kNoLayer = -1;
constexpr int32_t kNoIteration = -1;

// Consecutive layers: modules of one class at one place in the module tree, or a repeating block of
// operators or kernels. With several stacks, layers are numbered consecutively over all of them; a
// single stack keeps its own numbers.
struct LayerStack {
  std::string name;    // "Qwen2DecoderLayer", "block of 20 kernels"; empty = from labels
  int32_t first = 0;   // number of its first layer
  int32_t places = 0;  // layer numbers it uses
  int32_t layers = 0;  // layers among them with GPU activities
};
constexpr int32_t kNoStack = -1;
// The stack of a layer; kNoStack for kNoLayer.
int32_t stack_of(const std::vector<LayerStack>& stacks, int32_t layer);

// One GPU activity. All tables of this module are sums over these. Times in ns.
struct KernelLevel {
  ActivityId activity;
  StringId kernel;      // name as recorded
  int64_t gpu = 0;      // device index as recorded
  int32_t window = -1;  // index into Windows; -1 = outside every window
  int32_t layer = kNoLayer;
  uint32_t op = 0;  // into BreakdownReport::op_names
  LevelPhase phase = LevelPhase::kNone;
  OpType op_type = OpType::kOther;
  PlacedBy by = PlacedBy::kNone;
  UnplacedReason unplaced = UnplacedReason::kPlaced;
  bool phase_by_name = false;  // inferred from the kernel's name only: likely, not recorded
  bool is_kernel = false;      // not a copy or fill
  bool comm = false;           // op_type == kComm
  bool compute = false;        // subject to the equations: a kernel that is not a collective
  bool timed = false;          // has a predecessor on its GPU, so the equations are defined

  int64_t t_l_ns = kNoTime;  // start of the launch call; kNoTime = not recorded
  int64_t t_ks_ns = 0;
  int64_t t_ke_ns = 0;

  // Components of the bubble before the kernel; disjoint, and their sum is the bubble.
  int64_t prep_ns = 0;          // Eq. 1: idle and waiting for the launch, before the launch call
  int64_t call_ns = 0;          // Eq. 2: the same, from the start of the launch call on
  int64_t comm_wait_ns = 0;     // waiting for a collective
  int64_t comm_alone_ns = 0;    // a collective ran, and the host had not launched yet
  int64_t copy_ns = 0;          // a copy or memset ran, and no collective
  int64_t other_idle_ns = 0;    // idle for a reason other than a launch
  int64_t unrecorded_ns = 0;    // not part of the bubble: time in it that was not recorded
  int64_t overlap_ns = 0;       // the part of dur_ns that overlaps a collective
  int64_t concurrent_ns = 0;    // the part of dur_ns that overlaps an earlier compute kernel
  int64_t inner_bubble_ns = 0;  // the bubble, if the previous kernel belongs to the same operation

  int64_t dur_ns() const { return t_ke_ns - t_ks_ns; }
  int64_t launch_ns() const { return prep_ns + call_ns; }  // Eq. 3
};

// Sums over a group of activities. Ratios are computed from sums, never averaged.
struct LevelSums {
  uint64_t activities = 0;
  uint64_t kernels = 0;  // of them, without copies and fills
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
  int64_t op_dur_ns = 0;    // dur_ns plus the bubbles inside the operation
  int64_t likeness_ns = 0;  // the part of dur_ns that is attributed by similarity

  void add(const KernelLevel& row);
  void add(const LevelSums& other);
  // Time between kernels: launch overhead, waits, copies and other idle time.
  int64_t bubble_ns() const {
    return launch_ns + comm_wait_ns + comm_alone_ns + copy_ns + other_idle_ns;
  }
  double overlap_ratio() const;  // overlap_ns / dur_ns; NaN without duration
};

// Sums over activities that share all six keys.
struct LevelCell {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  int32_t layer = kNoLayer;
  uint32_t op = 0;
  OpType op_type = OpType::kOther;
  LevelSums sums;
};

// Sums per kernel name of an operation, over iterations and layers.
struct LevelKernelCell {
  LevelPhase phase = LevelPhase::kNone;
  int32_t stack = kNoStack;
  uint32_t op = 0;
  std::string kernel;  // shortened for display
  LevelSums sums;
};

// One GPU in one iteration (iter = kNoIteration: outside every iteration). Holds exactly over its
// compute kernels:
//   dur_ns - concurrent_ns + bubble_ns() == span_ns
// span_ns starts at the end of the previous iteration and ends with the last kernel, so spans of
// successive iterations adjoin. It excludes time that was not recorded.
struct LevelSpan {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  int64_t start_ns = 0;
  int64_t span_ns = 0;
  LevelSums compute;
  LevelSums first;  // the first kernel of `compute`; its bubble begins the span
  uint64_t comm_kernels = 0;
  int64_t comm_ns = 0;          // union of its collectives
  int64_t exposed_comm_ns = 0;  // the part of comm_ns in which no compute kernel ran
  std::optional<int64_t> tokens;
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();  // tokens / span
};

// Time range of a GPU's compute kernels, from timestamps alone, and GPU activity outside it.
struct GpuExtent {
  int64_t gpu = 0;
  int64_t first_ns = 0;       // first start
  int64_t last_ns = 0;        // last end
  int64_t unrecorded_ns = 0;  // time in the range that was not recorded
  // Before the first or after the last kernel: the union of collectives, and of copies and memsets
  // that overlap no collective.
  int64_t comm_outside_ns = 0;
  int64_t copy_outside_ns = 0;

  int64_t span_ns() const { return last_ns - first_ns - unrecorded_ns; }
};

// One collective on this rank.
struct CollectiveEvent {
  uint32_t group = 0;  // into BreakdownReport::groups
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  int64_t seq = -1;  // sequence number in the process group; -1 = not recorded
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Coverage of the attribution.
struct PlacementCount {
  uint64_t activities = 0;
  int64_t dur_ns = 0;
};
struct PlacementStats {
  PlacementCount all;
  PlacementCount unplaced;       // no operation
  PlacementCount no_layer;       // operation known, but outside every layer
  PlacementCount no_phase;       // no source gives the phase
  PlacementCount phase_by_name;  // phase inferred from the kernel's name only
  std::array<PlacementCount, kPlacedBy> by = {};
  std::array<PlacementCount, kUnplacedReasons> reasons = {};
  int64_t layers = 0;        // distinct layers
  std::string layer_source;  // "module Qwen2DecoderLayer", "repeating block of 14 operators", ...
  uint64_t flows = 0;        // fwdbwd flows with both operators found
  uint64_t flows_agree = 0;  // of flows_compared: the sequence number confirms the forward operator
  uint64_t flows_compared = 0;  // of those, with a sequence number to compare
};

// Definition of the equations.
enum class LevelDefinition : uint8_t {
  kAssay,    // previous end: maximum over streams; waits for collectives are separate
  kChopper,  // the published tool's: the previous row's end; waits for collectives count as launch
             // overhead
};

struct LevelRule;     // breakdown/mapping.h
struct ReplayReport;  // flow/replays.h
struct DeviceFlow;    // flow/causes.h

struct BreakdownOptions {
  LevelDefinition definition = LevelDefinition::kAssay;
  const std::vector<LevelRule>* rules = nullptr;  // the mapping file; null if there is none
  // Kernel classifier; null = the built-in table.
  std::shared_ptr<const KernelNames> kernels = {};
  // Idle causes of this trace's devices, if already computed; null = compute them.
  const std::vector<DeviceFlow>* flow = nullptr;
  // Kernels to explain the attribution of: a substring of the name, recorded or as shown
  // (describe_kernel), or a pattern with * or ? for the whole name. Empty = none.
  std::string explain = {};
  // Graph replays joined to attributed captures (breakdown/place.h); null = use structure only.
  const ReplayReport* replays = nullptr;
};

// GPU activities with the same name, attribution and source, and the host events around the first
// of them, so that a user can check the attribution.
struct PlacementEvidence {
  std::string kernel = {};  // name as recorded
  std::string op = {};
  LevelPhase phase = LevelPhase::kNone;
  std::string stack = {};          // layer stack; empty = none, or layers from labels
  int32_t first_layer = kNoLayer;  // smallest and largest, counted within the stack if it is named
  int32_t last_layer = kNoLayer;
  PlacedBy by = PlacedBy::kNone;
  UnplacedReason unplaced = UnplacedReason::kPlaced;
  uint64_t activities = 0;
  int64_t dur_ns = 0;
  // For the activity that starts first:
  std::string iteration = {};               // empty = outside every iteration
  std::string call = {};                    // launch call; empty = not recorded
  std::vector<std::string> operators = {};  // around the launch, outermost first
  std::vector<std::string> labels = {};     // around the launch, outermost first
  std::string module = {};                  // path of nn.Modules around the launch; empty = none
  std::string forward = {};                 // forward operator, for backward work
  std::string recorded = {};                // operator at the capture, for a graph replay
};

struct BreakdownReport {
  LevelDefinition definition = LevelDefinition::kAssay;
  std::vector<std::string> op_names;  // by KernelLevel::op; 0 = unattributed
  std::vector<KernelLevel> rows;      // in order of (gpu, t_ks, activity)
  std::vector<LevelCell> cells;       // sorted by all their keys
  std::vector<LevelKernelCell> kernels;
  std::vector<LevelSpan> spans;    // in order of (gpu, iter)
  std::vector<GpuExtent> extents;  // by gpu
  std::vector<LayerStack> stacks;  // in order of their layers
  CauseTimes idle_ns{};            // idle time between kernels except launch overhead, by cause
  std::vector<CollectiveGroup> groups;
  std::vector<CollectiveEvent> collectives;  // sorted by group, then start
  std::vector<int32_t> iterations;           // number of each window, as printed
  WindowSource window_source = WindowSource::kWholeTrace;
  std::string window_evidence = {};  // Windows::evidence
  PlacementStats placement;
  std::vector<PlacementEvidence> evidence;  // as requested by explain; longest first
  TrustNotes trust;
};

// Fails only on an invalid mapping. A trace without kernels gives empty tables.
Result<BreakdownReport> analyze_breakdown(const Trace& trace, const Links& links,
                                          const Windows& windows, const BreakdownOptions& options);

}  // namespace assay
