#pragma once

// Changes to a run that a replay can try: each shrinks lags of the graph or cuts edges, and leaves
// everything else as recorded. Definitions: docs/metrics.md, What if.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/graph.h"
#include "flow/work_scales.h"
#include "trace/iterations.h"

namespace assay {

enum class EditKind : uint8_t {
  kSync,       // calls that wait for the device return at once
  kInput,      // loading data costs nothing
  kAlloc,      // allocation calls cost nothing
  kWarm,       // no one-off costs: the window to judge, no gain
  kPauses,     // what holds the host up for kPauseNs or more at a time costs nothing
  kHost,       // what is left of the host's own work; at 0 a sensitivity that no change reaches
  kFasterCpu,  // host work and calls that do not wait take 1/f
  kKernels,    // durations of kernels by name
  kFamily,     // durations of kernels by what they are
  kOps,        // host time of operators by name, and of all inside them
  kFrames,     // host time of Python frames by name, innermost
  kCalls,      // own time of calls by name
  kCopies,     // copies and fills take no time for who waits for them
  kComm,       // nor do collectives
  kGraph,      // a graph in each iteration
  kFuse,       // a chain of kernels becomes one
  kRoof,       // operators as fast as the device could be, by their shapes
  kAttention,  // attention of several kernels becomes one
  kSkew,  // all ranks come to a collective when the middle one does: of a job, of no rank alone
};
constexpr size_t kEditKinds = 19;

struct EditRequest {
  EditKind kind = EditKind::kSync;
  std::string pattern = {};             // glob of names, where the kind takes one; empty = all
  std::vector<std::string> chain = {};  // kFuse: globs of kernel names in their order
  // What is left of the time, 0 to 1; of kFasterCpu the speed, above 1.
  double factor = 0;
};

// "sync", "sync:cudaStreamSynchronize", "faster_cpu=1.3", "kernel:gemm*=0.5", "fuse:a*+b*", ...
Result<EditRequest> parse_edit(std::string_view text);
// The same text; parse_edit of it gives the request.
std::string edit_text(const EditRequest& request);
// The forms that parse_edit takes, for help and errors.
std::string edit_forms();

// Why an edit is not told.
enum class EditRefusal : uint8_t {
  kNone,
  kModelError,     // a replay without unexplained time is too far off the record
  kUnexplained,    // too much of the critical path is explained by nothing recorded
  kUnlinked,       // too little device work has a launch call
  kCold,           // one-off costs fill the idle time
  kNothing,        // nothing in the run is of that kind or name
  kFewIterations,  // fewer than two
  kNotCapturable,  // waits or allocations stand between nearly all launches
  kVaries,         // iterations run different kernels
  kInGraphs,       // most work is in graphs already
  kChainVaries,    // the chain's first kernel is followed by others
  kNeedsRanks,     // one rank says nothing about it
  kNoShapes,       // the work of no operator is known
  kNoPeaks,        // what the device could do is not known
  kNoOperators,    // operators were not recorded
};
// "model_error", "few_iterations", ...; empty for none.
std::string_view edit_refusal_word(EditRefusal refusal);

// What an edit does to a run. Marks are empty where they mark nothing.
struct Edit {
  using Marks = std::vector<bool>;

  EditRequest request;
  EditRefusal refusal = EditRefusal::kNone;
  bool predicted = false;                   // to a stated value; else to nothing: "at most"
  bool value_is_read = false;               // of kSync: a waiting call brings a value to the host
  bool falls_back = false;                  // of kAttention: see UnfusedAttention
  std::array<double, kFlowCauses> cause{};  // what is left of host pieces and calls
  std::array<double, 4> work{};             // of device work by WorkKind
  // Long stretches of which nothing is recorded stay as they are: the host may sleep in them.
  bool keeps_silence = false;
  bool no_pauses = false;         // host pieces and calls of kPauseNs or more take no time
  double marked = 1;              // what is left of marked calls, works and pieces
  std::vector<float> works_left;  // per work, what is left of its duration; empty = all
  // Factors of any size: per work, of its duration (empty = 1), and of the host's own work. Those of
  // several edits multiply.
  std::vector<float> works_scale;
  double host = 1;
  Marks calls;                    // per call: own time
  Marks works;                    // per work: its duration
  Marks ops;                      // per operator, with all inside it
  Marks frame_names;              // per StringId
  Marks unwaited;                 // per call: waits for nothing, and takes no time itself
  Marks free_calls;       // per call: no own time, no host time before it, no place in the queue
  Marks short_calls;      // per call: takes at most what launching a graph takes
  Marks joined;           // per work: follows its stream at once
  int64_t joined_ns = 0;  // after at most so long
  uint64_t affected = 0;  // calls, works or names that it changes
};

// What a graph launch costs and what lies between its nodes: stand-ins for measured floors.
constexpr int64_t kGraphLaunchNs = 10'000;
constexpr int64_t kGraphNodeNs = 1'000;

// Finds what a request changes. iterations: empty or one window where there are none.
class EditMaker {
 public:
  // sources: of the edit "roof".
  EditMaker(const FlowRun& run, const Windows& iterations, RoofSources sources = {});
  Edit make(const EditRequest& request) const;

 private:
  bool waits_again(uint32_t c) const;
  void make_pauses(Edit& edit) const;
  void make_sync(Edit& edit) const;
  void make_copies(Edit& edit) const;
  void make_cause(FlowCause cause, Edit& edit) const;
  void make_host(double left, std::span<const FlowCause> causes, Edit& edit) const;
  void make_kernels(Edit& edit) const;
  void make_ops(Edit& edit) const;
  void make_frames(Edit& edit) const;
  void make_calls(Edit& edit) const;
  void make_graph(Edit& edit) const;
  void make_fuse(Edit& edit) const;
  void make_roof(Edit& edit) const;
  void make_attention(Edit& edit) const;
  bool brings_value(uint32_t call) const;

  const FlowRun& run_;
  const Windows& iterations_;
  const RoofSources sources_;
  std::array<bool, kFlowCauses> has_cause_{};
  std::array<bool, 4> has_work_{};
};

// The parts of the run that become graphs: of each iteration the calls between two that block,
// allocate or set something up, where they launch most.
struct GraphSpans {
  std::vector<std::vector<uint32_t>> calls;  // per iteration with one, in order of time
  EditRefusal refusal = EditRefusal::kNone;
};
GraphSpans find_graph_spans(const FlowRun& run, const Windows& iterations);

// The runs of works on one stream that a chain of names fits, one after another.
struct ChainMatches {
  std::vector<std::vector<uint32_t>> works;
  uint64_t first = 0;     // works that the first name fits
  uint64_t crossing = 0;  // matches that reach into another iteration: left out
};
ChainMatches find_chain(const FlowRun& run, const Windows& iterations,
                        const std::vector<std::string>& chain);

}  // namespace assay
