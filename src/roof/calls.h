#pragma once

// Finds the operator call of each kernel, and the work of that call.
//
// The call is the innermost operator around the launch with known work (Links gives the enclosing
// operators). If there is none, it is the innermost one with bounds on its work. A call may launch
// kernels itself and enclose others of its kind of work that also do (or products, if it is one
// itself). It then keeps its work minus theirs, never below zero, so nothing counts twice.
// Auxiliary work of a call, such as a cast before its sum, does not count. If no operator has known
// work, name and grid of the kernel may give bounds.

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "kernels/names.h"
#include "roof/work.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Recorded arguments of the operators of a trace, which must outlive it.
class RecordedInputs {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit RecordedInputs(const Trace& trace) : trace_(trace), rows_(input_rows(trace)) {}
  uint32_t row(OpId op) const { return rows_[op.index()]; }  // of op_inputs; kNone
  const std::vector<uint32_t>& rows() const { return rows_; }
  // Sizes of the first tensor in a row of op_inputs; empty where there is none.
  Sizes first_sizes(uint32_t at) const;
  // list_type: as read_op_inputs has it. Nothing where nothing was recorded.
  OpInputs of(OpId op, ElementType list_type = ElementType::kUntold) const;
  OpInputs at(uint32_t row, ElementType list_type = ElementType::kUntold) const;

 private:
  const Trace& trace_;
  std::vector<uint32_t> rows_;
};

inline constexpr uint32_t kNoCallWork = UINT32_MAX;

// A call with a model that launched at least one kernel of the trace.
struct CallWork {
  OpId op;
  OpWork work;
  bool nested = false;  // other calls inside it took their share of the work
};

// Reason why the work of a kernel is unknown.
enum class NoWork : uint8_t {
  kKnown,
  kGraphReplay,  // a graph's launch: operators ran when it was captured
  kGraphSizes,   // it may have been captured with other sizes
  kNoLaunch,     // its launch is not in the trace
  kNoOperator,   // launched outside every operator
  kNoShapes,     // of the operator or those around it, none was recorded with shapes
  kNoModel,
  kUntold,  // there is a model, but types, values or a covered shape are missing
  kBounds,  // lengths or types have only bounds: RoofCalls::bounds
};
inline constexpr size_t kNoWorks = 9;
std::string_view no_work_words(NoWork why);

// Work of a launch with this number of elements per thread.
struct LaunchChoice {
  double per_thread = 0;
  OpWork least;
  OpWork most;
};

// Work with only lower and upper bounds. It is the work of a call, from the operator's arguments;
// or, without an operator, of each launch of one kernel with one grid on one device.
struct CallBounds {
  OpId op;
  OpWork least;
  OpWork most;
  // By the launch grid: the same by how many elements a thread takes, where several are possible.
  std::vector<LaunchChoice> choices = {};
  bool shown = false;  // from a launch of the same kernel with recorded sizes
};

struct RoofCalls {
  std::vector<CallWork> calls;
  std::vector<uint32_t> call;   // per activity, into calls; kNoCallWork = none
  std::vector<NoWork> why;      // per activity
  std::vector<OpId> innermost;  // per activity without a call: the operator to name
  std::vector<CallBounds> bounds;
  std::vector<uint32_t> bound;  // per activity of kBounds, into bounds; kNoCallWork = none
};

// Kernels other than collectives; other activities have no call.
RoofCalls find_roof_calls(const Trace& trace, const Links& links, const KernelNames& kernels);

// The same for launches that ran nothing, such as those captured into a graph, each by its
// innermost enclosing operator. The per-activity members of RoofCalls are per launch. Properties
// that only a kernel's name has (types of lists, TF32) are unknown.
RoofCalls find_launch_calls(const Trace& trace, const Links& links,
                            const std::vector<OpId>& launches);

// "3x[16,559,16,64] [64] +2 bf16": at most `most` distinct consecutive sizes of the operator's
// tensors, and the type of the first.
std::string shape_words(const OpInputs& inputs, size_t most = 3);

}  // namespace assay
