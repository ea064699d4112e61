// Attribution of GPU activities.
//
// Problem: a kernel record contains neither operation nor layer, and no trace has a single source
// for both. Labels, module frames, operators, graph replays and backward flows each explain some
// kernels of some traces.
//
// Method: the host events around each launch (labels, frames, operators) are found once per call,
// and the sources are used in order of priority (place.h). If neither labels nor modules give
// layers, the sequence of operators, or of the kernels of a graph, is searched for a repeating
// block. Backward work gets the attribution of its forward operator. Activities launched before the
// recording get that of the matching ones in the next iteration.
//
// Effect: less than 5 % of the device time is unattributed in 47 of 48 real traces. In the other
// one, which has only a handful of kernels, all of it is (docs/measured/breakdown_coverage.md).

#include "breakdown/place.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "breakdown/forward_links.h"
#include "breakdown/host_units.h"
#include "breakdown/labels.h"
#include "breakdown/mapping.h"
#include "breakdown/modules.h"
#include "breakdown/recomputation.h"
#include "breakdown/shape_phases.h"
#include "breakdown/structure.h"
#include "breakdown/training_pass.h"
#include "breakdown/twins.h"
#include "flow/names.h"
#include "kernels/name.h"
#include "trace/api_names.h"
#include "trace/backward_names.h"
#include "trace/label_windows.h"
#include "trace/phases.h"

namespace assay {
namespace {

constexpr uint32_t kUnplacedOp = 0;

// Distinct operation names.
class OpNames {
 public:
  OpNames() { id("unplaced"); }
  uint32_t id(std::string_view name) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    const auto added = static_cast<uint32_t>(names_.size());
    names_.emplace_back(name);
    ids_.emplace(std::string(name), added);
    return added;
  }
  const std::string& text(uint32_t op) const { return names_[op]; }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> ids_;
};

// Properties of an operator that follow from its name.
struct OpNameFacts {
  bool engine = false;      // a node of the autograd engine
  bool backward = false;    // named as backward work: "MulBackward0", "aten::relu_backward"
  bool accumulate = false;  // AccumulateGrad
  bool checkpoint = false;  // the node that recomputes a checkpointed part
  bool optimizer = false;   // only optimizers call it
  bool foreach = false;     // mostly optimizers call it
};

// True for "MulBackward0", "torch::autograd::AccumulateGrad",
// "aten::cudnn_convolution_backward_input".
bool is_backward_name(std::string_view name) {
  if (is_backward_node(name)) return true;
  return name.find("::") != std::string_view::npos &&
         name.find("_backward") != std::string_view::npos &&
         name.find("no_backward") == std::string_view::npos;
}

OpNameFacts read_op_name(std::string_view name) {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  OpNameFacts facts;
  facts.engine = name.starts_with("autograd::engine::evaluate_function");
  facts.accumulate = has("AccumulateGrad");
  facts.checkpoint = has("CheckpointFunctionBackward");
  facts.backward = is_backward_name(name);
  facts.optimizer =
      has("_fused_adam") || has("_fused_sgd") || has("FusedAdam") || has("_fused_adagrad");
  facts.optimizer = facts.optimizer || name.starts_with("Optimizer.step#") ||
                    name.starts_with("Optimizer.zero_grad#");
  facts.foreach = has("_foreach_") || has("multi_tensor");
  return facts;
}

struct Place {
  uint32_t op = kUnplacedOp;
  int32_t layer = kNoLayer;
  LevelPhase phase = LevelPhase::kNone;
  PlacedBy by = PlacedBy::kNone;
  UnplacedReason reason = UnplacedReason::kPlaced;
};

// Host thread and time of a launch.
struct HostPoint {
  ThreadId thread;
  int64_t time_ns = 0;
  OpId op;  // innermost operator; may be none
};

// Layer stacks during the attribution. A layer is (stack, number), packed into one integer.
class Stacks {
 public:
  int32_t pack(std::string_view stack, int32_t number) {
    if (number < 0) return kNoLayer;
    const auto [found, added] = ids_.try_emplace(std::string(stack), names_.size());
    if (added) names_.emplace_back(stack);
    return static_cast<int32_t>(std::min(found->second, kMostStacks)) * kPlaces +
           std::min(number, kPlaces - 1);
  }
  const std::string& name_of(int32_t layer) const {
    return names_[static_cast<size_t>(layer / kPlaces)];
  }
  static int32_t number_of(int32_t layer) { return layer == kNoLayer ? kNoLayer : layer % kPlaces; }
  // Renumbers layers consecutively over all stacks. Returns the stacks with GPU activities.
  std::vector<LayerStack> unpack(std::vector<KernelLevel>& rows) const {
    std::map<int32_t, std::set<int32_t>> used;
    for (const KernelLevel& row : rows) {
      if (row.layer != kNoLayer) used[row.layer / kPlaces].insert(row.layer % kPlaces);
    }
    std::vector<LayerStack> stacks;
    std::map<int32_t, int32_t> first;
    int32_t next = 0;
    for (const auto& [id, numbers] : used) {
      const int32_t places = *numbers.rbegin() + 1;
      stacks.push_back(
          {names_[static_cast<size_t>(id)], next, places, static_cast<int32_t>(numbers.size())});
      first[id] = next;
      next += places;
    }
    for (KernelLevel& row : rows) {
      if (row.layer != kNoLayer) row.layer = first[row.layer / kPlaces] + row.layer % kPlaces;
    }
    return stacks;
  }

 private:
  static constexpr int32_t kPlaces = 1 << 20;
  static constexpr size_t kMostStacks = 2046;
  std::vector<std::string> names_;
  std::map<std::string, size_t, std::less<>> ids_;
};

// Attribution of a unit in a repeating block.
struct Slot {
  uint32_t op = kUnplacedOp;
  int32_t layer = kNoLayer;
  LevelPhase phase = LevelPhase::kNone;
};

// A sequence that is searched for blocks.
struct BlockSequence {
  std::vector<BlockUnit> units;
  std::vector<uint32_t> tokens;
  std::vector<uint32_t> keys;
  std::string module;                      // innermost module around the whole sequence; empty =
                                           // none
  std::vector<SequenceBlock> blocks = {};  // found in it
};
constexpr size_t kLeastUnits = 6;
constexpr size_t kLeastPieces = 3;  // minimum number of graphs between which layers are launched

// A group of kernels searched together: those of one graph launch, or those of one window outside
// every operator. Without launch calls, streams of a device have no common order, so each is a
// group.
struct KernelLane {
  uint32_t call = UINT32_MAX;
  int32_t window = kNoIteration;
  int64_t device = 0;
  uint32_t stream = UINT32_MAX;
  bool operator<(const KernelLane& other) const {
    return std::tie(call, window, device, stream) <
           std::tie(other.call, other.window, other.device, other.stream);
  }
};

// Forward units in order, grouped by window and thread, and by module call if modules give layers.
struct ForwardUnits {
  struct Lane {
    int32_t window;
    uint32_t thread;
    int64_t call_ns;  // start of the module call, if modules show layers
    bool operator<(const Lane& other) const {
      return std::tie(window, thread, call_ns) <
             std::tie(other.window, other.thread, other.call_ns);
    }
  };
  struct Unit {
    int64_t start_ns;
    uint32_t op;
    bool operator<(const Unit& other) const {
      return std::pair(start_ns, op) < std::pair(other.start_ns, other.op);
    }
  };
  struct Work {
    OpType type = OpType::kOther;
    int64_t dur_ns = 0;
    bool replays_layers = false;
  };
  std::map<Lane, std::map<Unit, Work>> sequences;
  std::map<Lane, std::string_view> classes;
};

class Placer {
 public:
  Placer(const Trace& trace, const Links& links, const Windows& windows,
         const BreakdownOptions& options)
      : trace_(trace),
        links_(links),
        windows_(windows),
        kernels_(given_or_built_in(options.kernels, trace.strings, trace.activities.name)),
        rules_(options.rules),
        explain_(options.explain),
        labels_(trace, links, windows),
        modules_(trace),
        forward_links_(trace),
        recomputation_(trace, links, forward_links_),
        units_(trace, links, windows.windows.size()),
        phases_(generation_phases(trace, links, windows)),
        op_facts_(trace.strings.size()),
        has_backward_(false) {
    read_op_names();
    classify_kernels();
    find_replayed(options.replays);
    find_blocks();
  }

  Placements place_all();
  CapturedPlace captured_place(ApiCallId call);

 private:
  void read_op_names();
  void classify_kernels();
  void add_launched(ApiCallId call, ForwardUnits::Work& work) const;
  ForwardUnits forward_units();
  void find_blocks();
  void find_graph_blocks();
  void add_block(BlockSequence& all, size_t begin, size_t end,
                 std::unordered_map<uint32_t, Slot>& slots, const char* what);
  std::map<KernelLane, std::vector<uint32_t>> kernel_lanes() const;
  int64_t launch_ns(uint32_t activity) const;
  void sort_by_launch(std::vector<uint32_t>& kernels) const;
  bool is_replayed(size_t activity) const;
  void tell_phases(BlockSequence& blocks);
  BlockSequence kernel_sequence(std::vector<uint32_t> kernels);
  void find_blocks_across_graphs();
  int32_t window_of(ActivityId activity) const;

  const OpNameFacts& facts_of(OpId op) const {
    return op_facts_[trace_.ops.name[op.index()].index()];
  }
  bool is_optimizer_kernel(size_t activity) const {
    return trace_.activities.kind[activity] == ActivityKind::kKernel &&
           kernels_->of(trace_.activities.name[activity]).kind == KernelKind::kOptimizer;
  }
  HostPoint point_of_call(ApiCallId call) const {
    return {trace_.api_calls.thread[call.index()], trace_.api_calls.start_ns[call.index()],
            links_.call_op[call.index()]};
  }
  HostPoint point_of_op(OpId op) const {
    return {trace_.ops.thread[op.index()], trace_.ops.start_ns[op.index()], op};
  }

  // The innermost backward operator around the point; none in the forward pass. Sets `recomputes`
  // if the point repeats forward work.
  OpId backward_node(const HostPoint& point, bool& recomputes) const;
  Place place_host(const HostPoint& point);
  Place place_forward(const HostPoint& point);
  Place place_backward(const HostPoint& point, OpId node);
  OpId own_node(OpId op) const;
  bool place_by_module(const HostPoint& point, Place& place);
  bool is_optimizer(const HostPoint& point) const;
  std::string_view own_op_name(const HostPoint& point) const;
  LevelPhase generation_phase(int64_t time_ns) const;

  void place_kernel(size_t activity, KernelLevel& row);
  void find_replayed(const ReplayReport* replays);
  bool place_by_recording(size_t activity, bool in_block, Place& place);
  void place_comm(size_t activity, const HostPoint* point, KernelLevel& row);
  std::string kind_of_comm(size_t activity, const HostPoint* point) const;
  void apply_rules(size_t activity, const HostPoint* point, KernelLevel& row);
  bool rule_applies(const LevelRule& rule, size_t activity, const HostPoint* point) const;
  bool layers_recorded(const std::vector<KernelLevel>& rows) const;
  void count(const KernelLevel& row);
  std::vector<PlacementEvidence> evidence_of(const Placements& placed) const;
  void add_surroundings(const KernelLevel& row, PlacementEvidence& evidence) const;

  const Trace& trace_;
  const Links& links_;
  const Windows& windows_;
  const std::shared_ptr<const KernelNames> kernels_;
  const std::vector<LevelRule>* rules_;
  const std::string explain_;
  OpNames names_;
  Stacks stacks_;
  Labels labels_;
  Modules modules_;
  ForwardLinks forward_links_;
  Recomputation recomputation_;
  HostUnits units_;
  Phases phases_;                                    // of text generation; empty in training
  std::vector<OpNameFacts> op_facts_;                // per StringId
  std::vector<OpType> kernel_type_;                  // per activity
  std::vector<StringId> collective_of_;              // per activity with arguments; otherwise none
  std::unordered_map<uint32_t, Slot> op_slots_;      // unit operator -> slot
  std::unordered_map<uint32_t, Slot> kernel_slots_;  // activity -> slot
  std::unordered_map<uint32_t, std::string> kernel_words_;  // by name
  const ReplayReport* replays_ = nullptr;
  std::vector<const ReplayedActivity*> replayed_;  // per activity; empty = no replays joined
  std::vector<Place> call_places_;
  std::vector<uint8_t> call_known_;
  bool has_backward_;
  std::string block_words_;
  std::set<int32_t> layers_;
  PlacementStats stats_;
};

void Placer::read_op_names() {
  std::vector<uint8_t> known(trace_.strings.size());
  for (size_t o = 0; o < trace_.ops.size(); ++o) {
    const size_t name = trace_.ops.name[o].index();
    if (known[name] == 0) op_facts_[name] = read_op_name(trace_.text(StringId(name)));
    known[name] = 1;
    has_backward_ |= op_facts_[name].engine || op_facts_[name].backward;
  }
}

void Placer::classify_kernels() {
  const size_t n = trace_.activities.size();
  kernel_type_.resize(n);
  for (size_t a = 0; a < n; ++a) {
    const ActivityKind kind = trace_.activities.kind[a];
    const bool copies = kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemset;
    if (copies) kernel_type_[a] = OpType::kCopy;
    if (kind == ActivityKind::kKernel)
      kernel_type_[a] = op_type(kernels_->of(trace_.activities.name[a]));
  }
  collective_of_.resize(n);
  for (size_t i = 0; i < trace_.collectives.size(); ++i) {
    collective_of_[trace_.collectives.activity[i].index()] = trace_.collectives.collective[i];
  }
}

OpId Placer::backward_node(const HostPoint& point, bool& recomputes) const {
  bool forward_inside = false;
  OpId named;  // outermost operator with a backward name, if no node is recorded
  for (OpId op = point.op; op; op = links_.op_parent[op.index()]) {
    const OpNameFacts& facts = facts_of(op);
    if (facts.checkpoint && named) return named;
    if (facts.checkpoint) {
      // The checkpoint node itself runs the forward part; the backward part runs in nodes inside
      // it.
      recomputes = true;
      return op;
    }
    if (facts.engine || forward_links_.names_forward_thread(op)) {
      if (forward_inside) {
        recomputes = recomputation_.repeats_forward(op);
      }
      if (!recomputes) {
        // A module called inside a backward node repeats its forward part.
        const Modules::Place module = modules_.at(point.thread, point.time_ns);
        recomputes = module.found && module.start_ns >= trace_.ops.start_ns[op.index()];
      }
      return op;
    }
    forward_inside |= forward_links_.is_forward(op);
    if (facts.backward) named = op;
  }
  return named;
}

bool Placer::is_optimizer(const HostPoint& point) const {
  for (OpId op = point.op; op; op = links_.op_parent[op.index()]) {
    const OpNameFacts& facts = facts_of(op);
    if (facts.optimizer || (facts.foreach && has_backward_)) return true;
  }
  return false;
}

std::string_view Placer::own_op_name(const HostPoint& point) const {
  if (!point.op) return {};
  return trace_.text(trace_.ops.name[units_.unit_of(point.op).index()]);
}

// Prefill or decode if the iterations are separable, otherwise forward.
LevelPhase Placer::generation_phase(int64_t time_ns) const {
  const int32_t window = window_at(phases_.windows, time_ns);
  if (window < 0) return LevelPhase::kForward;
  switch (phases_.phase[static_cast<size_t>(window)]) {
    case Phase::kPrefill:
      return LevelPhase::kPrefill;
    case Phase::kDecode:
      return LevelPhase::kDecode;
    case Phase::kNone:
      break;
  }
  return LevelPhase::kForward;
}

bool Placer::place_by_module(const HostPoint& point, Place& place) {
  const Modules::Place module = modules_.at(point.thread, point.time_ns);
  if (!module.found) return false;
  place.by = PlacedBy::kModule;
  place.layer = stacks_.pack(module.stack, module.layer);
  if (module.leaf || module.llama) {
    place.op = names_.id(module.op);
    return true;
  }
  // For launches of a module outside its submodules: the outermost operator inside the module.
  OpId below;
  for (OpId op = point.op; op && trace_.ops.start_ns[op.index()] >= module.start_ns;
       op = links_.op_parent[op.index()]) {
    below = op;
  }
  const std::string_view op_name = below ? trace_.text(trace_.ops.name[below.index()]) : "";
  const std::string_view known =
      modules_.llama_inner_op(module, point.thread, point.time_ns, op_name);
  if (!known.empty()) {
    place.op = names_.id(known);
  } else {
    std::string name(module.op);
    if (!op_name.empty()) name.append("/").append(op_name);
    place.op = names_.id(name);
  }
  return true;
}

Place Placer::place_forward(const HostPoint& point) {
  Place place;
  const Labels::Place label = labels_.at(point.thread, point.time_ns);
  const bool by_module = place_by_module(point, place);
  if (!label.op.empty()) {
    place.op = names_.id(label.op);
    place.by = PlacedBy::kLabel;
  }
  if (label.layer >= 0) place.layer = stacks_.pack("", label.layer);
  if (place.layer < 0) place.layer = stacks_.pack(labels_.block(), label.repetition);
  const auto slot = point.op ? op_slots_.find(units_.unit_of(point.op).value) : op_slots_.end();
  const bool repeats = slot != op_slots_.end() && place.layer < 0;
  if (!label.op.empty() || (by_module && !repeats)) return place;

  if (label.own) {
    place.op = names_.id(trace_.text(label.own));
    place.by = PlacedBy::kLabel;
  } else if (slot != op_slots_.end()) {
    place.op = slot->second.op;
    place.by = PlacedBy::kStructure;
  } else if (point.op) {
    place.op = names_.id(own_op_name(point));
    place.by = PlacedBy::kOperator;
  } else {
    place.reason = UnplacedReason::kNoOperator;
  }
  if (repeats) place.layer = slot->second.layer;
  return place;
}

// The innermost user-defined node around an operator; its name identifies the operation.
OpId Placer::own_node(OpId op) const {
  for (; op; op = links_.op_parent[op.index()]) {
    const bool own = ForwardLinks::is_own_node(trace_.text(trace_.ops.name[op.index()]));
    if (own && !facts_of(op).engine) return op;
  }
  return {};
}

Place Placer::place_backward(const HostPoint& point, OpId node) {
  Place place;
  const Labels::Place label = labels_.at(point.thread, point.time_ns);
  // The node, or a part of it that encloses the launch, has the forward operator's sequence number.
  ForwardLinks::Found found;
  bool accumulates = false;
  for (OpId op = point.op; op; op = links_.op_parent[op.index()]) {
    accumulates |= facts_of(op).accumulate;
    if (!found.forward) found = forward_links_.forward_of(op);
    if (op == node) break;
  }
  if (!label.op.empty()) {
    place.op = names_.id("b_" + std::string(label.op));
    place.layer = stacks_.pack("", label.layer);
    place.by = PlacedBy::kLabel;
  } else if (accumulates) {
    place.op = names_.id("b_ga");
    place.by = PlacedBy::kGradient;
  } else if (found.forward) {
    place = place_forward(point_of_op(found.forward));
    place.op = names_.id("b_" + names_.text(place.op));
    place.by = found.by;
  } else if (label.own) {
    place.op = names_.id(trace_.text(label.own));
    place.layer = stacks_.pack(labels_.block(), label.repetition);
    place.by = PlacedBy::kLabel;
  } else if (const Labels::Place main = labels_.on_main_thread(point.time_ns); main.own) {
    place.op = names_.id(trace_.text(main.own));
    place.layer = stacks_.pack(labels_.block(), main.repetition);
    place.by = PlacedBy::kLabel;
  } else if (facts_of(node).backward && !facts_of(node).engine) {
    place.op = names_.id(trace_.text(trace_.ops.name[node.index()]));
    place.by = PlacedBy::kOperator;
  } else if (const OpId own = own_node(point.op)) {
    place.op = names_.id(trace_.text(trace_.ops.name[own.index()]));
    place.by = PlacedBy::kOperator;
  } else {
    place.op = names_.id("b_unmapped");
    place.reason = UnplacedReason::kNoForward;
  }
  return place;
}

Place Placer::place_host(const HostPoint& point) {
  bool recomputes = false;
  const OpId node = backward_node(point, recomputes);
  Place place;
  if (node && !recomputes) {
    place = place_backward(point, node);
    place.phase = LevelPhase::kBackward;
    return place;
  }
  const Labels::Place label = labels_.at(point.thread, point.time_ns);
  const LevelPhase told = label.phase;
  if (!recomputes && (told == LevelPhase::kOptimizer || is_optimizer(point))) {
    place.op = names_.id("opt_step");
    const std::string_view name = own_op_name(point);
    if (told == LevelPhase::kOptimizer && name.find("zero") != std::string_view::npos) {
      place.op = names_.id("zero_grad");
    }
    place.by = PlacedBy::kOptimizer;
    place.phase = LevelPhase::kOptimizer;
    return place;
  }
  place = place_forward(point);
  place.phase = recomputes ? LevelPhase::kRecompute : told;
  if (place.phase == LevelPhase::kBackward && !label.op.empty())
    place.op = names_.id("b_" + std::string(label.op));
  // Serving engines add a label "forward" inside a step, which is a prefill or a decode. Without
  // operators, only labels give a phase.
  if (place.phase == LevelPhase::kForward ||
      (place.phase == LevelPhase::kNone && (point.op || !phases_.phase.empty()))) {
    place.phase = generation_phase(point.time_ns);
  }
  return place;
}

std::string Placer::kind_of_comm(size_t activity, const HostPoint* point) const {
  return collective_kind(trace_, links_, *kernels_, collective_of_[activity],
                         ActivityId(static_cast<uint32_t>(activity)),
                         point == nullptr ? OpId() : point->op);
}

void Placer::place_comm(size_t activity, const HostPoint* point, KernelLevel& row) {
  row.op = names_.id(kind_of_comm(activity, point));
  row.by = PlacedBy::kCollective;
  row.unplaced = UnplacedReason::kPlaced;
}

// Index of the iteration that launched a row. Activities queued before the recording belong to an
// iteration that was not recorded, even if they run during a recorded one.
int32_t Placer::window_of(ActivityId activity) const {
  if (const ApiCallId call = links_.activity_call[activity.index()]) {
    return window_at(windows_, trace_.api_calls.start_ns[call.index()]);
  }
  const bool iterations = windows_.source != WindowSource::kWholeTrace;
  if (iterations && links_.carried_over(trace_, activity)) return kNoIteration;
  return window_at(windows_, trace_.activities.start_ns[activity.index()]);
}

void Placer::find_replayed(const ReplayReport* replays) {
  if (replays == nullptr || replays->activities.empty()) return;
  replays_ = replays;
  replayed_.resize(trace_.activities.size(), nullptr);
  for (const ReplayedActivity& one : replays->activities) replayed_[one.activity.index()] = &one;
}

// Uses the attribution of the captured launch, if known. A capture without layers, as of a compiled
// model, is less informative than the kernel's repeating block. If the capture does not distinguish
// phases, the replay's phase is used.
bool Placer::place_by_recording(size_t activity, bool in_block, Place& place) {
  const ReplayedActivity* one = replayed_.empty() ? nullptr : replayed_[activity];
  if (one == nullptr || one->places_differ) return false;
  const CapturedPlace& recorded = replays_->nodes[one->node].place;
  if (!recorded.told || (in_block && recorded.layer < 0)) return false;
  place.op = names_.id(recorded.op);
  if (recorded.layer >= 0) place.layer = stacks_.pack(recorded.stack, recorded.layer);
  const auto phase = static_cast<LevelPhase>(recorded.phase);
  const bool own = phase == LevelPhase::kBackward || phase == LevelPhase::kRecompute ||
                   phase == LevelPhase::kOptimizer;
  if (own || place.phase == LevelPhase::kNone) place.phase = phase;
  place.by = PlacedBy::kRecording;
  place.reason = UnplacedReason::kPlaced;
  return true;
}

CapturedPlace Placer::captured_place(ApiCallId call) {
  const Place place = place_host(point_of_call(call));
  if (place.reason != UnplacedReason::kPlaced || place.op == kUnplacedOp) return {};
  CapturedPlace captured{.told = true, .op = names_.text(place.op)};
  if (place.layer != kNoLayer) {
    captured.stack = stacks_.name_of(place.layer);
    captured.layer = Stacks::number_of(place.layer);
  }
  captured.phase = static_cast<uint8_t>(place.phase);
  return captured;
}

void Placer::place_kernel(size_t activity, KernelLevel& row) {
  const ApiCallId call = links_.activity_call[activity];
  const OpId op = links_.activity_op[activity];
  Place place;
  HostPoint point;
  const bool has_point = call || op;
  if (call) {
    point = point_of_call(call);
    if (!point.op) point.op = op;
    if (call_known_[call.index()] == 0) {
      call_places_[call.index()] = place_host(point);
      call_known_[call.index()] = 1;
    }
    place = call_places_[call.index()];
  } else if (op) {
    point = point_of_op(op);
    place = place_host(point);
  } else {
    place.reason = trace_.activities.kind[activity] == ActivityKind::kKernel &&
                           links_.carried_over(trace_, ActivityId(activity))
                       ? UnplacedReason::kCarriedOver
                       : UnplacedReason::kNoLaunch;
  }
  const auto slot = kernel_slots_.find(static_cast<uint32_t>(activity));
  const bool in_block = slot != kernel_slots_.end() && slot->second.layer != kNoLayer;
  if (place_by_recording(activity, in_block, place)) {
    // Attributed as if launched at the capture.
  } else if (slot != kernel_slots_.end()) {
    // Kernels of a graph replay keep the layer that launched the graph, if there is one.
    const bool keeps_op =
        place.by != PlacedBy::kNone && !is_replayed(activity) && !trace_.ops.empty();
    if (!keeps_op) place.op = slot->second.op;
    if (place.layer == kNoLayer) place.layer = slot->second.layer;
    if (slot->second.phase != LevelPhase::kNone) place.phase = slot->second.phase;
    if (!keeps_op) {
      place.by = slot->second.layer == kNoLayer ? PlacedBy::kKernelName : PlacedBy::kStructure;
    }
    place.reason = UnplacedReason::kPlaced;
  } else if (is_replayed(activity)) {
    place.op = kUnplacedOp;
    place.by = PlacedBy::kNone;
    place.reason = UnplacedReason::kGraphReplay;
  }
  // Without any operators, a copy or memset is classified by its name, like a kernel.
  const bool copies = trace_.activities.kind[activity] != ActivityKind::kKernel;
  if (place.reason != UnplacedReason::kPlaced && copies && trace_.ops.empty()) {
    place.op = names_.id(trace_.text(trace_.activities.name[activity]));
    place.by = PlacedBy::kKernelName;
    place.reason = UnplacedReason::kPlaced;
  }
  if (place.phase == LevelPhase::kNone && is_optimizer_kernel(activity)) {
    place.phase = LevelPhase::kOptimizer;
    row.phase_by_name = true;
  }
  row.op = place.op;
  row.layer = place.layer;
  row.phase = place.phase;
  row.by = place.by;
  row.unplaced = place.reason;
  if (row.comm) place_comm(activity, has_point ? &point : nullptr, row);
  if (rules_ != nullptr) apply_rules(activity, has_point ? &point : nullptr, row);
}

bool Placer::rule_applies(const LevelRule& rule, size_t activity, const HostPoint* point) const {
  if (rule.target == RuleTarget::kKernel) {
    return matches_glob(trace_.text(trace_.activities.name[activity]), rule.pattern);
  }
  if (point == nullptr) return false;
  if (rule.target == RuleTarget::kOperator) {
    for (OpId op = point->op; op; op = links_.op_parent[op.index()]) {
      if (matches_glob(trace_.text(trace_.ops.name[op.index()]), rule.pattern)) return true;
    }
    return false;
  }
  if (rule.target == RuleTarget::kModule) {
    const Modules::Place module = modules_.at(point->thread, point->time_ns);
    return module.found && matches_glob(module.path, rule.pattern);
  }
  return labels_.any_matches(trace_, point->thread, point->time_ns, [&rule](std::string_view name) {
    return matches_glob(name, rule.pattern);
  });
}

void Placer::apply_rules(size_t activity, const HostPoint* point, KernelLevel& row) {
  for (const LevelRule& rule : *rules_) {
    if (!rule_applies(rule, activity, point)) continue;
    if (!rule.op.empty()) row.op = names_.id(rule.op);
    if (rule.layer) row.layer = stacks_.pack("", *rule.layer);
    if (rule.phase) row.phase = *rule.phase;
    if (!rule.op.empty()) {
      row.by = PlacedBy::kMap;
      row.unplaced = UnplacedReason::kPlaced;
    }
    return;
  }
}

// Adds slots for the units of one sequence: first of the repeating block, then of the units before
// and after it. `keys` identify units in `slots`.
void Placer::add_block(BlockSequence& all, size_t begin, size_t end,
                       std::unordered_map<uint32_t, Slot>& slots, const char* what) {
  if (end - begin < kLeastUnits) return;
  const auto part = [begin, end](const auto& whole) {
    return std::decay_t<decltype(whole)>(whole.begin() + static_cast<std::ptrdiff_t>(begin),
                                         whole.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const std::vector<BlockUnit> units = part(all.units);
  const BlockLayers found = find_block_layers(part(all.tokens), units);
  if (found.layers.empty()) return;
  std::vector<std::vector<uint32_t>> ops;
  for (const std::vector<BlockUnit>& kind : found.kinds) {
    std::vector<uint32_t>& ids = ops.emplace_back();
    for (const std::string& name : name_block(kind)) ids.push_back(names_.id(name));
  }
  std::string words = "block of " + std::to_string(found.period) + " " + what;
  if (!all.module.empty()) words = all.module + ", " + words;
  for (const BlockLayer& layer : found.layers) {
    for (size_t k = 0; k < layer.length; ++k) {
      const size_t unit = layer.unit_at(k);
      const uint32_t op =
          unit == kNoUnit ? names_.id(units[layer.begin + k].name) : ops[layer.kind][unit];
      slots[all.keys[begin + layer.begin + k]] = {op, stacks_.pack(words, layer.number)};
    }
  }
  const BlockLayer& last = found.layers.back();
  const size_t last_end = begin + last.begin + last.length;
  all.blocks.push_back({begin + found.layers.front().begin, last_end,
                        static_cast<int32_t>(found.layers.size()), words});
  std::set<std::vector<std::string>> kinds;
  for (const std::vector<BlockUnit>& kind : found.kinds) {
    std::vector<std::string> names;
    for (const BlockUnit& unit : kind) names.push_back(unit.name);
    kinds.insert(std::move(names));
  }
  if (kinds.size() > 1) words += ", " + std::to_string(kinds.size()) + " kinds of layers";
  if (block_words_.empty()) block_words_ = "repeating " + words;
  add_block(all, begin, begin + found.layers.front().begin, slots, what);
  add_block(all, last_end, end, slots, what);
}

// Adds the call's activities to its unit. The unit's type is attention if a kernel is, otherwise
// matrix product, otherwise that of its first kernel.
void Placer::add_launched(ApiCallId call, ForwardUnits::Work& work) const {
  for (ActivityId activity : links_.activities_of(call)) {
    work.dur_ns += trace_.activities.dur_ns[activity.index()];
    const auto replayed = kernel_slots_.find(activity.value);
    work.replays_layers |= replayed != kernel_slots_.end() && replayed->second.layer != kNoLayer;
    const OpType kernel = kernel_type_[activity.index()];
    const bool heavy = kernel == OpType::kGemm || kernel == OpType::kAttention;
    if (work.type != OpType::kAttention && (heavy || work.type == OpType::kOther)) {
      work.type = kernel;
    }
  }
}

ForwardUnits Placer::forward_units() {
  ForwardUnits found;
  for (size_t c = 0; c < trace_.api_calls.size(); ++c) {
    const OpId op = links_.call_op[c];
    if (!op || links_.activities_of(ApiCallId(c)).empty()) continue;
    const HostPoint point = point_of_call(ApiCallId(c));
    bool recomputes = false;
    if (backward_node(point, recomputes) || is_optimizer(point)) continue;
    ForwardUnits::Lane lane{window_at(windows_, point.time_ns), point.thread.value, 0};
    if (modules_.layers() > 0) {
      const Modules::Place module = modules_.at(point.thread, point.time_ns);
      if (module.layer >= 0) continue;
      if (module.found) lane.call_ns = module.start_ns;
      found.classes[lane] = module.cls;
    }
    const OpId unit = units_.unit_of(op);
    add_launched(ApiCallId(c),
                 found.sequences[lane][{trace_.ops.start_ns[unit.index()], unit.value}]);
  }
  return found;
}

// If modules give some layers, the remaining activities are searched per module call, because a
// compiled model has no modules of its own.
void Placer::find_blocks() {
  find_graph_blocks();
  const ForwardUnits found = forward_units();
  for (const auto& [lane, sequence] : found.sequences) {
    BlockSequence blocks;
    if (const auto cls = found.classes.find(lane); cls != found.classes.end()) {
      blocks.module = cls->second;
    }
    for (const auto& [unit, work] : sequence) {
      const StringId name = trace_.ops.name[unit.op];
      blocks.units.push_back(
          {std::string(trace_.text(name)), work.type, work.dur_ns, work.replays_layers});
      blocks.tokens.push_back(name.value);
      blocks.keys.push_back(unit.op);
    }
    add_block(blocks, 0, blocks.units.size(), op_slots_, "operators");
  }
}

int64_t Placer::launch_ns(uint32_t activity) const {
  const ApiCallId call = links_.activity_call[activity];
  return call ? trace_.api_calls.start_ns[call.index()] : trace_.activities.start_ns[activity];
}

void Placer::sort_by_launch(std::vector<uint32_t>& kernels) const {
  std::stable_sort(kernels.begin(), kernels.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(launch_ns(a), trace_.activities.start_ns[a]) <
           std::pair(launch_ns(b), trace_.activities.start_ns[b]);
  });
}

bool Placer::is_replayed(size_t activity) const {
  const ApiCallId call = links_.activity_call[activity];
  return call && links_.role_of(trace_, call) == ApiRole::kGraphLaunch &&
         links_.activities_of(call).size() > 1;
}

// Kernels replayed by graphs, and kernels without any operator, in launch order.
std::map<KernelLane, std::vector<uint32_t>> Placer::kernel_lanes() const {
  std::map<KernelLane, std::vector<uint32_t>> lanes;
  for (size_t a = 0; a < trace_.activities.size(); ++a) {
    if (trace_.activities.kind[a] != ActivityKind::kKernel) continue;
    const ApiCallId call = links_.activity_call[a];
    KernelLane lane;
    if (is_replayed(a)) {
      lane.call = call.value;
    } else if (trace_.ops.empty()) {
      lane.window = window_of(ActivityId(a));
      lane.device = trace_.streams[trace_.activities.stream[a].index()].device;
      if (!call) lane.stream = trace_.activities.stream[a].value;
    } else {
      continue;
    }
    lanes[lane].push_back(static_cast<uint32_t>(a));
  }
  for (auto& [lane, kernels] : lanes) {
    sort_by_launch(kernels);
  }
  return lanes;
}

// Infers phases from an optimizer at the end of a sequence: the blocks before it are a forward and
// a backward pass over the same layers.
void Placer::tell_phases(BlockSequence& blocks) {
  const TrainingPass pass = find_training_pass(blocks.units, blocks.blocks);
  for (size_t k = 0; k < pass.phase.size(); ++k) {
    kernel_slots_[blocks.keys[k]].phase = pass.phase[k];
  }
  for (const MirroredBlock& pair : pass.mirrored) {
    for (size_t k = pair.backward.begin; k < pair.backward.end; ++k) {
      Slot& slot = kernel_slots_[blocks.keys[k]];
      const int32_t number = Stacks::number_of(slot.layer);
      if (number == kNoLayer) continue;
      slot.layer = stacks_.pack(pair.forward.name, pair.forward.layers - 1 - number);
    }
    if (block_words_ == "repeating " + pair.backward.name) {
      block_words_ = "repeating " + pair.forward.name;
    }
  }
}

BlockSequence Placer::kernel_sequence(std::vector<uint32_t> kernels) {
  BlockSequence blocks;
  for (uint32_t kernel : kernels) {
    const StringId name = trace_.activities.name[kernel];
    std::string& text = kernel_words_[name.value];
    if (text.empty()) text = describe_kernel(trace_.text(name));
    blocks.units.push_back({text, kernel_type_[kernel], trace_.activities.dur_ns[kernel],
                            is_optimizer_step(kernels_->of(name))});
    blocks.tokens.push_back(name.value);
  }
  blocks.keys = std::move(kernels);
  return blocks;
}

void Placer::find_graph_blocks() {
  for (auto& [lane, kernels] : kernel_lanes()) {
    BlockSequence blocks = kernel_sequence(std::move(kernels));
    if (lane.call != UINT32_MAX) {
      const HostPoint point = point_of_call(ApiCallId(lane.call));
      blocks.module = modules_.at(point.thread, point.time_ns).cls;
    }
    add_block(blocks, 0, blocks.keys.size(), kernel_slots_, "kernels");
    // Units outside the block are named by the kernel.
    for (size_t k = 0; k < blocks.keys.size(); ++k) {
      kernel_slots_.try_emplace(blocks.keys[k], Slot{names_.id(blocks.units[k].name), kNoLayer});
    }
    tell_phases(blocks);
  }
  if (modules_.layers() == 0) find_blocks_across_graphs();
}

// If each graph is part of a layer and other kernels are launched between graphs, only the whole
// sequence shows layers. Kernels outside graphs keep their operation.
void Placer::find_blocks_across_graphs() {
  struct Pieces {
    std::set<uint32_t> graphs;
    bool layers = false;
    std::vector<uint32_t> kernels;
  };
  std::map<std::pair<int32_t, int64_t>, Pieces> windows;  // key: window, device
  for (size_t a = 0; a < trace_.activities.size(); ++a) {
    const ApiCallId call = links_.activity_call[a];
    if (!call || trace_.activities.kind[a] != ActivityKind::kKernel) continue;
    const int64_t device = trace_.streams[trace_.activities.stream[a].index()].device;
    Pieces& pieces = windows[{window_of(ActivityId(a)), device}];
    pieces.kernels.push_back(static_cast<uint32_t>(a));
    if (!is_replayed(a)) continue;
    pieces.graphs.insert(call.value);
    const auto slot = kernel_slots_.find(static_cast<uint32_t>(a));
    pieces.layers |= slot != kernel_slots_.end() && slot->second.layer != kNoLayer;
  }
  for (auto& [key, pieces] : windows) {
    if (pieces.layers || pieces.graphs.size() < kLeastPieces) continue;
    sort_by_launch(pieces.kernels);
    BlockSequence blocks = kernel_sequence(std::move(pieces.kernels));
    add_block(blocks, 0, blocks.keys.size(), kernel_slots_, "kernels");
    tell_phases(blocks);
  }
}

// True if most kernels with a layer have it from their capture.
bool Placer::layers_recorded(const std::vector<KernelLevel>& rows) const {
  size_t all = 0;
  size_t recorded = 0;
  for (const KernelLevel& row : rows) {
    if (row.layer == kNoLayer) continue;
    ++all;
    recorded += row.by == PlacedBy::kRecording;
  }
  return 2 * recorded > all;
}

void Placer::count(const KernelLevel& row) {
  const auto add = [&row](PlacementCount& to) {
    ++to.activities;
    to.dur_ns += row.dur_ns();
  };
  add(stats_.all);
  add(stats_.by[static_cast<size_t>(row.by)]);
  if (row.unplaced != UnplacedReason::kPlaced) {
    add(stats_.unplaced);
    add(stats_.reasons[static_cast<size_t>(row.unplaced)]);
  } else if (row.layer == kNoLayer) {
    add(stats_.no_layer);
  }
  if (row.phase == LevelPhase::kNone) add(stats_.no_phase);
  if (row.phase_by_name) add(stats_.phase_by_name);
  if (row.layer != kNoLayer) layers_.insert(row.layer);
}

// True if `asked` matches the name: as a substring, or with * or ? as a pattern for the whole name.
bool is_asked(std::string_view name, std::string_view asked) {
  const bool pattern = asked.find_first_of("*?") != std::string_view::npos;
  return pattern ? matches_glob(name, asked) : name.find(asked) != std::string_view::npos;
}

// Fills the events around the launch of a row.
void Placer::add_surroundings(const KernelLevel& row, PlacementEvidence& evidence) const {
  const bool iterations = windows_.source != WindowSource::kWholeTrace;
  if (iterations && row.window >= 0)
    evidence.iteration = windows_.windows[static_cast<size_t>(row.window)].name;
  const size_t a = row.activity.index();
  if (!replayed_.empty() && replayed_[a] != nullptr) {
    const CapturedNode& node = replays_->nodes[replayed_[a]->node];
    evidence.recorded = node.outer.empty() ? node.op : node.outer;
  }
  const ApiCallId call = links_.activity_call[a];
  if (call) evidence.call = trace_.text(trace_.api_calls.name[call.index()]);
  const OpId own = links_.activity_op[a];
  if (!call && !own) return;
  HostPoint point = call ? point_of_call(call) : point_of_op(own);
  if (!point.op) point.op = own;
  for (OpId op = point.op; op; op = links_.op_parent[op.index()]) {
    evidence.operators.emplace_back(trace_.text(trace_.ops.name[op.index()]));
    const ForwardLinks::Found found = forward_links_.forward_of(op);
    if (evidence.forward.empty() && found.forward) {
      evidence.forward = trace_.text(trace_.ops.name[found.forward.index()]);
    }
  }
  labels_.any_matches(trace_, point.thread, point.time_ns, [&](std::string_view name) {
    evidence.labels.emplace_back(name);
    return false;
  });
  std::reverse(evidence.operators.begin(), evidence.operators.end());
  std::reverse(evidence.labels.begin(), evidence.labels.end());
  const Modules::Place module = modules_.at(point.thread, point.time_ns);
  if (module.found) evidence.module = module.path;
}

// Evidence for the requested kernels, grouped by name and attribution.
std::vector<PlacementEvidence> Placer::evidence_of(const Placements& placed) const {
  std::vector<PlacementEvidence> found;
  if (explain_.empty()) return found;
  using Key = std::tuple<StringId, uint32_t, LevelPhase, int32_t, PlacedBy, UnplacedReason>;
  std::map<Key, std::pair<size_t, const KernelLevel*>> groups;  // and the row that starts first
  std::unordered_map<uint32_t, bool> asked;                     // by kernel name
  for (const KernelLevel& row : placed.rows) {
    const auto [name, added] = asked.try_emplace(row.kernel.value, false);
    if (added) {
      const std::string_view text = trace_.text(row.kernel);
      name->second = is_asked(text, explain_) || is_asked(describe_kernel(text), explain_);
    }
    if (!name->second) continue;
    const int32_t stack = stack_of(placed.stacks, row.layer);
    const Key key(row.kernel, row.op, row.phase, stack, row.by, row.unplaced);
    const auto [group, is_new] = groups.try_emplace(key, found.size(), &row);
    if (is_new) {
      found.push_back({.kernel = std::string(trace_.text(row.kernel)),
                       .op = placed.op_names[row.op],
                       .phase = row.phase,
                       .by = row.by,
                       .unplaced = row.unplaced});
    }
    auto& [place, first] = group->second;
    if (row.t_ks_ns < first->t_ks_ns) first = &row;
    PlacementEvidence& evidence = found[place];
    ++evidence.activities;
    evidence.dur_ns += row.dur_ns();
    if (stack == kNoStack) continue;
    const LayerStack& own = placed.stacks[static_cast<size_t>(stack)];
    const int32_t layer = placed.stacks.size() < 2 ? row.layer : row.layer - own.first;
    evidence.stack = own.name;
    if (evidence.first_layer == kNoLayer) evidence.first_layer = evidence.last_layer = layer;
    evidence.first_layer = std::min(evidence.first_layer, layer);
    evidence.last_layer = std::max(evidence.last_layer, layer);
  }
  for (const auto& [key, group] : groups) add_surroundings(*group.second, found[group.first]);
  std::stable_sort(
      found.begin(), found.end(),
      [](const PlacementEvidence& a, const PlacementEvidence& b) { return a.dur_ns > b.dur_ns; });
  return found;
}

// If nothing else gives the phase, a kernel that computes gradients is backward work. The gradient
// of a convolution's input counts only if other kernels show a backward pass, because the same
// kernel may be a transposed convolution. No kernel name proves forward work.
void tell_backward_by_names(const KernelNames& kernels, std::vector<KernelLevel>& rows) {
  const bool trains = std::any_of(rows.begin(), rows.end(), [&](const KernelLevel& row) {
    return row.phase == LevelPhase::kBackward ||
           (row.compute && named_pass(kernels.of(row.kernel)) == NamedPass::kBackward);
  });
  if (!trains) return;
  for (KernelLevel& row : rows) {
    if (!row.compute || row.phase != LevelPhase::kNone) continue;
    if (named_pass(kernels.of(row.kernel)) == NamedPass::kNone) continue;
    row.phase = LevelPhase::kBackward;
    row.phase_by_name = true;
  }
}

// Without training, a layer has one phase per iteration, so its graph replays get the phase of its
// other operators.
void tell_phases_of_layers(std::vector<KernelLevel>& rows) {
  using Layer = std::tuple<int64_t, int32_t, int32_t>;  // GPU, window, layer
  std::map<Layer, std::set<LevelPhase>> told;
  for (const KernelLevel& row : rows) {
    const bool trains = row.phase == LevelPhase::kBackward || row.phase == LevelPhase::kRecompute ||
                        row.phase == LevelPhase::kOptimizer;
    if (trains) return;
    if (row.layer == kNoLayer || row.phase == LevelPhase::kNone) continue;
    told[{row.gpu, row.window, row.layer}].insert(row.phase);
  }
  for (KernelLevel& row : rows) {
    if (row.layer == kNoLayer || row.phase != LevelPhase::kNone) continue;
    const auto found = told.find({row.gpu, row.window, row.layer});
    if (found != told.end() && found->second.size() == 1) row.phase = *found->second.begin();
  }
}

Placements Placer::place_all() {
  Placements result;
  call_places_.resize(trace_.api_calls.size());
  call_known_.resize(trace_.api_calls.size());
  for (size_t a = 0; a < trace_.activities.size(); ++a) {
    if (!is_plain_work(trace_.activities.kind[a])) continue;
    KernelLevel row;
    row.activity = ActivityId(a);
    row.kernel = trace_.activities.name[a];
    row.gpu = trace_.streams[trace_.activities.stream[a].index()].device;
    // Only recorded copies count as copies; a kernel that moves data on the device is a compute
    // kernel.
    const bool kernel = trace_.activities.kind[a] == ActivityKind::kKernel;
    row.op_type = kernel && kernel_type_[a] == OpType::kCopy ? OpType::kVector : kernel_type_[a];
    row.is_kernel = kernel;
    row.comm = row.op_type == OpType::kComm;
    row.compute = kernel && !row.comm;
    row.t_ks_ns = trace_.activities.start_ns[a];
    row.t_ke_ns = trace_.end_ns(ActivityId(a));
    if (const ApiCallId call = links_.activity_call[a]) {
      row.t_l_ns = trace_.api_calls.start_ns[call.index()];
    }
    row.window = window_of(ActivityId(a));
    place_kernel(a, row);
    result.rows.push_back(row);
  }
  place_by_twins(trace_, result.rows);
  if (!has_backward_) tell_phases_of_layers(result.rows);
  tell_backward_by_names(*kernels_, result.rows);
  result.stacks = stacks_.unpack(result.rows);
  for (const KernelLevel& row : result.rows) count(row);
  stats_.layers = static_cast<int64_t>(layers_.size());
  if (result.stacks.size() > 1) {
    for (const LayerStack& stack : result.stacks) {
      if (!stats_.layer_source.empty()) stats_.layer_source += "; ";
      stats_.layer_source +=
          std::to_string(stack.layers) + " of " + (stack.name.empty() ? "labels" : stack.name);
    }
  } else if (!modules_.layer_class().empty()) {
    stats_.layer_source = "module " + modules_.layer_class();
  } else if (!result.stacks.empty() && !labels_.block().empty() &&
             result.stacks.front().name == labels_.block()) {
    stats_.layer_source = "repeating " + labels_.block();
  } else if (layers_recorded(result.rows)) {
    stats_.layer_source = result.stacks.front().name + ", as recorded into graphs";
  } else if (!block_words_.empty()) {
    stats_.layer_source = block_words_;
  } else if (!layers_.empty()) {
    stats_.layer_source = "labels";
  }
  stats_.flows = forward_links_.flows();
  stats_.flows_compared = forward_links_.flows_compared();
  stats_.flows_agree = forward_links_.flows_agree();
  result.op_names = names_.take();
  result.stats = stats_;
  result.evidence = evidence_of(result);
  return result;
}

}  // namespace

void place_captured(const Trace& trace, const Links& links, const Windows& windows,
                    const BreakdownOptions& options, std::vector<CapturedGraph>& graphs) {
  if (graphs.empty()) return;
  Placer placer(trace, links, windows, options);
  for (CapturedGraph& graph : graphs) {
    for (CapturedNode& node : graph.nodes) node.place = placer.captured_place(node.call_row);
  }
}

Placements place_activities(const Trace& trace, const Links& links, const Windows& windows,
                            const BreakdownOptions& options) {
  return Placer(trace, links, windows, options).place_all();
}

}  // namespace assay
