#pragma once

// What-if changes that a replay can simulate: each scales lags of the graph or cuts edges and
// leaves everything else as recorded. Definitions: docs/metrics.md, What if.

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
  kWarm,       // initialization costs nothing; it moves the window, it is no gain
  kPauses,     // host stalls of kPauseNs or more cost nothing
  kHost,       // scales the host's own work; at 0 a bound that no change reaches
  kFasterCpu,  // host work and calls that do not wait take 1/factor
  kKernels,    // durations of kernels by name
  kFamily,     // durations of kernels by kind
  kOps,        // host time of operators by name, with everything inside
  kFrames,     // host time with an innermost Python frame of this name
  kCalls,      // own time of calls by name
  kCopies,     // copies and fills take no time
  kComm,       // collectives take no time
  kGraph,      // one CUDA/HIP graph per iteration
  kFuse,       // a chain of kernels becomes one
  kRoof,       // operators run at the roofline, from their shapes
  kAttention,  // unfused attention becomes one kernel
  kSkew,  // all ranks reach a collective with the median one; needs a job
};
constexpr size_t kEditKinds = 19;

struct EditRequest {
  EditKind kind = EditKind::kSync;
  std::string pattern = {};             // glob of names, if the kind takes one; empty = all
  std::vector<std::string> chain = {};  // kFuse: globs of kernel names in their order
  // Fraction of the time left, 0 to 1; for kFasterCpu the speedup, above 1.
  double factor = 0;
};

// Parses "sync", "sync:cudaStreamSynchronize", "faster_cpu=1.3", "kernel:gemm*=0.5", "fuse:a*+b*",
// ... Error: kInvalidArgument, with the accepted forms.
Result<EditRequest> parse_edit(std::string_view text);
// The text of a request, the inverse of parse_edit.
std::string edit_text(const EditRequest& request);
// The forms that parse_edit accepts, for help and errors.
std::string edit_forms();

// Why no gain is reported for an edit.
enum class EditRefusal : uint8_t {
  kNone,
  kModelError,     // a replay without unexplained time differs too much from the record
  kUnexplained,    // too much of the critical path is unexplained
  kUnlinked,       // too little device work has a launch call
  kCold,           // initialization fills the idle time
  kNothing,        // nothing in the run has that kind or name
  kFewIterations,  // fewer than two
  kNotCapturable,  // waits or allocations separate nearly all launches
  kVaries,         // iterations run different kernels
  kInGraphs,       // most work is in graphs already
  kChainVaries,    // other kernels often follow the chain's first one
  kNeedsRanks,     // needs several ranks
  kNoShapes,       // FLOP and bytes of no operator are known
  kNoPeaks,        // the device's peak rates are unknown
  kNoOperators,    // operators were not recorded
};
// "model_error", "few_iterations", ...; empty for none.
std::string_view edit_refusal_word(EditRefusal refusal);

// The effect of a request on a run. Tables are empty if they mark nothing.
struct Edit {
  using Marks = std::vector<bool>;

  EditRequest request;
  EditRefusal refusal = EditRefusal::kNone;
  bool predicted = false;                   // to a stated factor: simulated; else an upper bound
  bool value_is_read = false;               // kSync: a removed wait brings a value to the host
  bool falls_back = false;                  // kAttention: see UnfusedAttention
  std::array<double, kFlowCauses> cause{};  // fraction left of host pieces and calls
  std::array<double, 4> work{};             // fraction left of device work, by WorkKind
  // Long host intervals without events keep their length: the host may sleep in them.
  bool keeps_silence = false;
  bool no_pauses = false;         // host pieces and calls of kPauseNs or more take no time
  double marked = 1;              // fraction left of marked rows
  std::vector<float> works_left;  // per work: fraction left of its duration, empty = all
  // Factors of any size: per work for its duration (empty = 1), and for the host's own work.
  // Factors of several edits multiply.
  std::vector<float> works_scale;
  double host = 1;
  Marks calls;                    // per call: own time
  Marks works;                    // per work: its duration
  Marks ops;                      // per operator, with everything inside it
  Marks frame_names;              // per StringId
  Marks unwaited;                 // per call: neither waits nor takes time
  Marks free_calls;       // per call: no own time, no host time before it, no queue wait
  Marks short_calls;      // per call: takes at most kGraphLaunchNs
  Marks joined;           // per work: follows its stream predecessor closely
  int64_t joined_ns = 0;  // gap before joined works, at most
  uint64_t affected = 0;  // number of calls, works or names that it changes
};

// Assumed cost of a graph launch, and gap between graph nodes.
constexpr int64_t kGraphLaunchNs = 10'000;
constexpr int64_t kGraphNodeNs = 1'000;

// Turns requests into edits. iterations: empty or one window if there are none.
class EditMaker {
 public:
  // sources: for kRoof.
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

// The calls that would become graphs: per iteration the interval with most launches between calls
// that block, allocate or initialize.
struct GraphSpans {
  std::vector<std::vector<uint32_t>> calls;  // per iteration that has one; calls in time order
  EditRefusal refusal = EditRefusal::kNone;
};
GraphSpans find_graph_spans(const FlowRun& run, const Windows& iterations);

// Successive works of one stream that match a chain of names.
struct ChainMatches {
  std::vector<std::vector<uint32_t>> works;
  uint64_t first = 0;     // number of works that match the first name
  uint64_t crossing = 0;  // matches across iterations, which are left out
};
ChainMatches find_chain(const FlowRun& run, const Windows& iterations,
                        const std::vector<std::string>& chain);

}  // namespace assay
