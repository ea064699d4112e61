#pragma once

// Finds the operator call of each kernel, and the work (FLOP and bytes) of that call.
//
// The call is the innermost operator around the launch with known work (Links gives the enclosing
// operators). If there is none, it is the innermost operator with bounds on its work. A call that
// launches kernels itself may enclose other calls that also do. It then keeps its own work minus
// that of enclosed calls of the same kind (of products, if it is a product), but not below zero, so
// that nothing is counted twice. Auxiliary work of a call, such as a cast before its sum, is not
// counted. If no operator has known work, the kernel's name and grid may give bounds.

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "kernels/names.h"
#include "roof/work.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Recorded arguments of the operators of a trace. The trace must outlive it.
class RecordedInputs {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit RecordedInputs(const Trace& trace) : trace_(trace), rows_(input_rows(trace)) {}
  uint32_t row(OpId op) const { return rows_[op.index()]; }  // into op_inputs; kNone = none
  const std::vector<uint32_t>& rows() const { return rows_; }
  // Sizes of the first tensor in a row of op_inputs; empty if there is none.
  Sizes first_sizes(uint32_t at) const;
  // list_type: as for read_op_inputs. Without recorded arguments, the result is empty.
  OpInputs of(OpId op, ElementType list_type = ElementType::kUntold) const;
  OpInputs at(uint32_t row, ElementType list_type = ElementType::kUntold) const;

 private:
  const Trace& trace_;
  std::vector<uint32_t> rows_;
};

inline constexpr uint32_t kNoCallWork = UINT32_MAX;

// An operator call with known work that launched at least one kernel of the trace.
struct CallWork {
  OpId op;
  OpWork work;
  bool nested = false;  // the work of enclosed calls was subtracted
};

// Reason why the work of a kernel is unknown. kKnown and kBounds: it is known or bounded.
enum class NoWork : uint8_t {
  kKnown,
  kGraphReplay,  // launched by a graph; its operators ran at capture
  kGraphSizes,   // captured operators are known, but this replay may have other sizes
  kNoLaunch,     // its launch call is not in the trace
  kNoOperator,   // launched outside every operator
  kNoShapes,     // neither its operator nor any enclosing one has recorded shapes
  kNoModel,
  kUntold,  // the operator has a model, but types, values or a covered shape are missing
  kBounds,  // lengths or types are known only within bounds: RoofCalls::bounds
};
inline constexpr size_t kNoWorks = 9;
std::string_view no_work_words(NoWork why);

// Work of a launch if each thread processes this number of elements.
struct LaunchChoice {
  double per_thread = 0;
  OpWork least;
  OpWork most;
};

// Lower and upper bounds of work: of a call, from the operator's arguments; or, without an
// operator, of each launch of one kernel with one grid on one device.
struct CallBounds {
  OpId op;
  OpWork least;
  OpWork most;
  // Bounds from the launch grid: one choice per possible number of elements per thread, if several
  // are possible.
  std::vector<LaunchChoice> choices = {};
  bool shown = false;  // derived from a launch of the same kernel with recorded sizes
};

struct RoofCalls {
  std::vector<CallWork> calls;
  std::vector<uint32_t> call;   // per activity, into calls; kNoCallWork = none
  std::vector<NoWork> why;      // per activity
  std::vector<OpId> innermost;  // per activity without a call: the operator to report
  std::vector<CallBounds> bounds;
  std::vector<uint32_t> bound;  // per activity of kBounds, into bounds; kNoCallWork = none
};

// Covers kernels other than collectives; other activities have no call.
RoofCalls find_roof_calls(const Trace& trace, const Links& links, const KernelNames& kernels);

// The same for launches without a kernel in the trace, such as those captured into a graph.
// `launches` has the innermost enclosing operator of each. The per-activity members of RoofCalls
// are per launch. Properties known only from a kernel's name (element types of lists, TF32) are
// unknown.
RoofCalls find_launch_calls(const Trace& trace, const Links& links,
                            const std::vector<OpId>& launches);

// Text such as "3x[16,559,16,64] [64] +2 bf16": at most `most` distinct consecutive tensor sizes of
// the operator, and the type of the first tensor.
std::string shape_words(const OpInputs& inputs, size_t most = 3);

}  // namespace assay
