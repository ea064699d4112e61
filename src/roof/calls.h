#pragma once

// Which operator call each kernel worked for, and what that call asked for.
//
// The call is the innermost operator around the launch whose work is told (Links tells which
// operators enclose it); where none is, the innermost whose work is told within bounds. A call that
// launches kernels itself, and encloses others of its kind of work (or products where it is one
// itself) that do so too, is left with its work less theirs, never below zero: nothing counts
// twice. What a call does beside, a cast before its sum, is no part of its work. Where no operator
// tells anything, name and grid of the kernel may tell bounds.

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "kernels/names.h"
#include "roof/work.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// What operators of a trace, which must outlive it, were called with.
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

// Why the work behind a kernel is not known.
enum class NoWork : uint8_t {
  kKnown,
  kGraphReplay,  // a graph's launch: operators ran when it was captured
  kGraphSizes,   // it may have been captured with other sizes
  kNoLaunch,     // its launch is not in the trace
  kNoOperator,   // launched outside every operator
  kNoShapes,     // of the operator or those around it, none was recorded with shapes
  kNoModel,
  kUntold,  // there is a model, but types, values or a covered shape are missing
  kBounds,  // lengths or types are told within bounds: RoofCalls::bounds
};
inline constexpr size_t kNoWorks = 9;
std::string_view no_work_words(NoWork why);

// Work of a launch whose threads take so many elements each.
struct LaunchChoice {
  double per_thread = 0;
  OpWork least;
  OpWork most;
};

// Work that is told within bounds alone: of a call by what its operator was called with, or,
// without an operator here, of each launch of one kernel with one grid on one device.
struct CallBounds {
  OpId op;
  OpWork least;
  OpWork most;
  // By the launch grid: the same by how many elements a thread takes, where several are possible.
  std::vector<LaunchChoice> choices = {};
  bool shown = false;  // a launch of the same kernel with recorded sizes told how many
};

struct RoofCalls {
  std::vector<CallWork> calls;
  std::vector<uint32_t> call;   // per activity, into calls; kNoCallWork = none
  std::vector<NoWork> why;      // per activity
  std::vector<OpId> innermost;  // per activity without a call: the operator to name
  std::vector<CallBounds> bounds;
  std::vector<uint32_t> bound;  // per activity of kBounds, into bounds; kNoCallWork = none
};

// Kernels that are no collectives; other activities stay without a call.
RoofCalls find_roof_calls(const Trace& trace, const Links& links, const KernelNames& kernels);

// The same for launches that ran nothing, as those recorded into a graph, each by the innermost
// operator around it: what is per activity in RoofCalls is per launch. What only a kernel's name
// tells (types of lists, TF32) is not known.
RoofCalls find_launch_calls(const Trace& trace, const Links& links,
                            const std::vector<OpId>& launches);

// "3x[16,559,16,64] [64] +2 bf16": sizes of the operator's tensors, at most `most` of those that
// differ from the one before, and the type of the first.
std::string shape_words(const OpInputs& inputs, size_t most = 3);

}  // namespace assay
