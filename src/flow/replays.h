#pragma once

// CUDA/HIP graphs: what was captured, and which operator each node of a replay comes from. A replay
// is one call, which by itself does not show where its kernels belong.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "flow/run.h"
#include "roof/calls.h"

namespace assay {

// Attribution of a captured launch, as found by breakdown/ in the trace with the capture.
struct CapturedPlace {
  bool told = false;
  std::string op = {};
  std::string stack = {};  // layer stack; `layer` counts within it
  int32_t layer = -1;      // -1 = in none
  uint8_t phase = 0;       // LevelPhase; with kNone or forward, the replay's phase applies
  friend bool operator==(const CapturedPlace&, const CapturedPlace&) = default;
};

// A launch, copy or fill that was captured into a graph and did not run.
struct CapturedNode {
  bool copies = false;      // a copy or fill
  std::string kernel = {};  // as the launch call names it; empty = unknown, as with CUDA
  std::string op = {};      // innermost operator around it, else the Python frame; empty = none
  std::string outer = {};   // outermost operator around it; empty = none
  // Operator call that it belongs to: index into `calls` of the same graph or join. Without one,
  // `no_work` is the reason and `no_work_op` the operator to report.
  uint32_t call = kNoCallWork;
  NoWork no_work = NoWork::kNoOperator;
  std::string no_work_op = {};
  ApiCallId call_row = {};  // in the trace with the capture
  CapturedPlace place = {};
};

// A captured operator call, and its FLOP and bytes in each replay. Work that depends on recorded
// values (sequence lengths) is left out, because replays have other values.
struct CapturedCall {
  std::string op = {};
  std::string shape = {};  // shape_words()
  OpWork work = {};
  bool nested = false;  // as CallWork
};

CapturedCall captured_call(const Trace& trace, const RecordedInputs& inputs, const CallWork& call);

// One capture; nodes in the order of creation.
struct CapturedGraph {
  std::string file = {};
  std::vector<CapturedNode> nodes = {};
  std::vector<CapturedCall> calls = {};
};

// Captures of a trace with at least one node, by thread, then time.
std::vector<CapturedGraph> captured_graphs(const FlowRun& run);

constexpr uint32_t kNoNode = UINT32_MAX;

// Per activity of a replay: the node that it runs.
struct JoinedWork {
  uint32_t node = kNoNode;     // index into `nodes`; kNoNode = not joined
  uint32_t launch = kNoNode;   // the graph launch: index into FlowRun::calls
  bool sizes_differ = false;   // captures with the same operators and other sizes match, too
  bool places_differ = false;  // captures of another layer or module match, too
};

struct ReplayJoin {
  std::vector<CapturedNode> nodes;  // of the replayed graphs
  std::vector<CapturedCall> calls;
  std::vector<JoinedWork> of_work;  // per FlowWork
  uint64_t replays = 0;             // graph launches with work
  uint64_t works = 0;               // activities of these
  uint64_t joined = 0;              // of them, with a node
  uint64_t named = 0;               // of these, kernels with a named captured launch
  // Activities not joined because captures or nodes of other operators match, too, or because only
  // kernel names prevent a match.
  uint64_t ambiguous = 0;
  std::vector<std::string> files;  // other traces with replayed captures
};

// Joins replays with captures. They match if counts are equal, copies are at the same places and
// known kernel names agree: in the order of node ids if all are known, else of begins, or of begins
// among equal names (flow/replay_fit.h). If several captures match, they must name the same
// operators: engines capture one graph per batch size, and their work is then not distinguished.
ReplayJoin join_replays(const FlowRun& run, const std::vector<CapturedGraph>& graphs);

// Device time of replays by captured operator.
struct ReplayedOp {
  std::string op = {};  // as CapturedNode
  std::string outer = {};
  uint64_t works = 0;
  int64_t ns = 0;  // summed durations
};
// Device work of a replay, as JoinedWork.
struct ReplayedActivity {
  ActivityId activity;
  uint32_t launch = 0;
  uint32_t node = 0;  // index into ReplayReport::nodes
  bool sizes_differ = false;
  bool places_differ = false;
};
struct ReplayReport {
  uint64_t replays = 0;  // as ReplayJoin
  uint64_t works = 0;
  uint64_t joined = 0;
  uint64_t named = 0;
  uint64_t ambiguous = 0;
  std::vector<std::string> files = {};
  std::vector<ReplayedOp> ops = {};  // longest first
  std::vector<CapturedNode> nodes = {};
  std::vector<CapturedCall> calls = {};
  std::vector<ReplayedActivity> activities = {};  // joined, in the order of FlowRun::works
};
ReplayReport make_replay_report(const FlowRun& run, ReplayJoin join);

// The captured operator call of a replayed activity; null if unknown: then the node states the
// reason, or sizes differ.
const CapturedCall* replayed_call(const ReplayReport& replays, const ReplayedActivity& one);

// Joins replays with the captures of the trace itself and with `others` (may be null).
ReplayReport find_replays(const FlowRun& run,
                          const std::shared_ptr<const std::vector<CapturedGraph>>& others);
// own: captured_graphs(run), possibly with CapturedNode::place set.
ReplayReport find_replays(const FlowRun& run, std::vector<CapturedGraph> own,
                          const std::shared_ptr<const std::vector<CapturedGraph>>& others);

}  // namespace assay
