#pragma once

// Graphs: what was recorded into one, and which operator each node of a replay comes from. A replay
// is one call, so that without this nothing tells what its kernels are part of.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "flow/run.h"
#include "roof/calls.h"

namespace assay {

// Where a recorded launch belongs, as breakdown/ finds it of the trace in which it was recorded.
struct CapturedPlace {
  bool told = false;
  std::string op = {};
  std::string stack = {};  // of layers; `layer` counts in it
  int32_t layer = -1;      // -1 = in none
  uint8_t phase = 0;       // LevelPhase; kNone and forward work have that of the replay
  friend bool operator==(const CapturedPlace&, const CapturedPlace&) = default;
};

// A launch, copy or fill that was recorded into a graph and ran nothing.
struct CapturedNode {
  bool copies = false;      // a copy or fill
  std::string kernel = {};  // as the launch call names it; empty = not told, as by CUDA
  std::string op = {};      // innermost operator around it, else the frame; empty = none
  std::string outer = {};   // outermost operator around it; empty = none
  // What it works for, into `calls` of the same graph or join; without one, why, and the operator
  // that is to be named for it.
  uint32_t call = kNoCallWork;
  NoWork no_work = NoWork::kNoOperator;
  std::string no_work_op = {};
  ApiCallId call_row = {};  // in the trace that recorded it
  CapturedPlace place = {};
};

// An operator's call that was recorded, and what it asks for in each replay. Work that rests on
// recorded values (lengths of sequences) is none: those of a replay are others.
struct CapturedCall {
  std::string op = {};
  std::string shape = {};  // shape_words()
  OpWork work = {};
  bool nested = false;  // as CallWork
};

CapturedCall captured_call(const Trace& trace, const RecordedInputs& inputs, const CallWork& call);

// One recording, in the order in which its nodes were made.
struct CapturedGraph {
  std::string file = {};
  std::vector<CapturedNode> nodes = {};
  std::vector<CapturedCall> calls = {};
};

// Recordings of a trace that hold at least one node, in the order of threads and times.
std::vector<CapturedGraph> captured_graphs(const FlowRun& run);

constexpr uint32_t kNoNode = UINT32_MAX;

// A piece of a replay's work and the node that it runs.
struct JoinedWork {
  uint32_t node = kNoNode;     // into `nodes`; kNoNode = not joined
  uint32_t launch = kNoNode;   // the graph launch, into FlowRun::calls
  bool sizes_differ = false;   // recordings with the same operators and other work fit as well
  bool places_differ = false;  // and such as belong elsewhere: another layer, another module
};

struct ReplayJoin {
  std::vector<CapturedNode> nodes;  // those of the graphs that were replayed
  std::vector<CapturedCall> calls;
  std::vector<JoinedWork> of_work;  // per FlowWork
  uint64_t replays = 0;             // graph launches with work
  uint64_t works = 0;               // work of these
  uint64_t joined = 0;              // of it, with a node
  uint64_t named = 0;               // of that, kernels that the recorded launch names
  // Of it not joined: recordings or nodes of other operators fit, too, or one would fit but for the
  // names of its kernels.
  uint64_t ambiguous = 0;
  std::vector<std::string> files;  // other traces whose recordings were replayed
};

// Work of a replay and nodes of a recording belong together where their numbers are equal, copies
// stand at the same places and kernels have the names that launches were recorded with, where those
// are told: in the order of the ids of nodes where the tracer tells them for all, else of the
// begins, or of the begins among equal names (flow/replay_fit.h). Where several recordings fit,
// they must name the same operators: engines record a graph for each batch size, whose work is then
// not told apart.
ReplayJoin join_replays(const FlowRun& run, const std::vector<CapturedGraph>& graphs);

// Device time of replays by the operator that was captured.
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
  uint32_t node = 0;  // into ReplayReport::nodes
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

// The recorded call that device work of a replay works for; nullptr where it is not known: then the
// node says why, or sizes differ.
const CapturedCall* replayed_call(const ReplayReport& replays, const ReplayedActivity& one);

// Joined to the graphs that the trace itself recorded, and to `others`.
ReplayReport find_replays(const FlowRun& run,
                          const std::shared_ptr<const std::vector<CapturedGraph>>& others);
// own: captured_graphs(run), which may have been placed.
ReplayReport find_replays(const FlowRun& run, std::vector<CapturedGraph> own,
                          const std::shared_ptr<const std::vector<CapturedGraph>>& others);

}  // namespace assay
