#pragma once

// The recorded critical path as time intervals, and sums of them by name.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "flow/graph.h"
#include "flow/path.h"

namespace assay {

enum class PathPartKind : uint8_t {
  kWork,     // device work
  kCall,     // a call's own time
  kHost,     // an operator, frame, label, or nothing recorded
  kLatency,  // typical latency between successive points
  kReturn,   // from the end of the awaited work to the return of the call
  kQueue,    // until the launch queue had space
  kUnseen,   // unexplained time over kFlowMarginNs
  kStart,    // before the first known predecessor
};
constexpr size_t kPathPartKinds = 8;
std::string_view path_part_kind_name(PathPartKind kind);

struct PathSlice {
  Interval span = {};
  PathPartKind kind = PathPartKind::kWork;
  EdgeKind edge = EdgeKind::kStart;
  FlowCause cause = FlowCause::kHostGap;  // of host time, latencies and returns
  WorkKind work = WorkKind::kCompute;     // of kWork
  RowSource source = RowSource::kNone;
  StringId name = {};        // none if no event names it
  OpId op = {};              // innermost operator around its event; none if there is none
  ActivityId activity = {};  // of device work, else none
};
// "compute", "collective" or "copy"; a cause; "queue" or "start".
std::string_view path_slice_state(const PathSlice& slice);

// Disjoint and ascending; they cover the run except for unrecorded time.
std::vector<PathSlice> path_slices(const FlowRun& run, const FlowGraph& graph,
                                   const CriticalPath& path);

// Sum of the slices of one kind, cause and name.
struct PathPart {
  PathSlice of;  // the longest slice
  int64_t ns = 0;
  uint64_t slices = 0;
};
// Largest first; they sum to FlowReport::path.makespan_ns.
std::vector<PathPart> path_parts(const std::vector<PathSlice>& slices);

// Path time by outermost operator; name none: outside all operators.
struct PathOp {
  StringId name;
  int64_t ns = 0;
  int64_t device_ns = 0;  // part of ns that is device work
};
std::vector<PathOp> path_ops(const FlowRun& run, const std::vector<PathSlice>& slices);

// A layer number, or one of these.
constexpr int32_t kPathLayerOutside = -1;
constexpr int32_t kPathLayerNotTold = -2;
constexpr int32_t kPathLayerMixed = -3;  // an operator with work of several layers
struct LayerOfRows {
  std::vector<int32_t> activity;  // per activity
  std::vector<int32_t> op;
};

// Path time by layer. A slice of unknown layer (an operator without work, host time between
// operators, a wait) takes the layer of the nearest known slices before and after it if these
// agree; otherwise it is kPathLayerNotTold.
struct PathLayer {
  int32_t layer = kPathLayerNotTold;  // or kPathLayerOutside, kPathLayerNotTold
  int64_t ns = 0;
  int64_t device_ns = 0;  // part of ns that is device work
};
// Largest first; they sum to the makespan.
std::vector<PathLayer> sum_by_layer(const std::vector<PathSlice>& slices, const LayerOfRows& of);

}  // namespace assay
