#pragma once

// The recorded critical path as stretches of time, and what stands on it summed by name.

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
  kLatency,  // usual time between what follows each other
  kReturn,   // from the end of what a call waited for to its return
  kQueue,    // until the launch queue had room
  kUnseen,   // what no edge explains, beyond what is usual
  kStart,    // before anything that is known
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
  StringId name = {};        // none where no row names it
  OpId op = {};              // innermost operator behind it, or none
  ActivityId activity = {};  // of device work; else none
};
// "compute", "collective", "copy", a cause, "queue", "start".
std::string_view path_slice_state(const PathSlice& slice);

// Disjoint, from the begin to the end of the run, which they cover but for what the recorder left
// out.
std::vector<PathSlice> path_slices(const FlowRun& run, const FlowGraph& graph,
                                   const CriticalPath& path);

// Slices of one kind, cause and name.
struct PathPart {
  PathSlice of;  // the longest of them
  int64_t ns = 0;
  uint64_t slices = 0;
};
// Largest first; they sum to the makespan of FlowReport::path.
std::vector<PathPart> path_parts(const std::vector<PathSlice>& slices);

// The path by outermost operator; none: outside of all.
struct PathOp {
  StringId name;
  int64_t ns = 0;
  int64_t device_ns = 0;  // of it, device work
};
std::vector<PathOp> path_ops(const FlowRun& run, const std::vector<PathSlice>& slices);

// Layers by number, or one of these.
constexpr int32_t kPathLayerOutside = -1;
constexpr int32_t kPathLayerNotTold = -2;
constexpr int32_t kPathLayerMixed = -3;  // work of several layers below an operator
struct LayerOfRows {
  std::vector<int32_t> activity;  // by row
  std::vector<int32_t> op;
};

// The path by layer. What no row places (an operator without work, host time between operators, a
// wait) is a layer's where the nearest stretches that are placed before and after it are that
// layer's, outside where both are; else between.
struct PathLayer {
  int32_t layer = kPathLayerNotTold;  // kPathLayerOutside; kPathLayerNotTold: between
  int64_t ns = 0;
  int64_t device_ns = 0;  // of it, device work
};
// Largest first; they sum to the makespan.
std::vector<PathLayer> sum_by_layer(const std::vector<PathSlice>& slices, const LayerOfRows& of);

}  // namespace assay
