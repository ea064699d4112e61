#pragma once

// The dependency graph of a run: points with a time, edges with a lag. A point happens at the
// maximum of (source time + lag) over its edges, plus the time that no edge explains (its
// residual), which belongs to the binding edge. Points are in topological order: every edge leads
// to a later point.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/intervals.h"
#include "flow/run.h"

namespace assay {

enum class PointKind : uint8_t { kCallBegin, kCallEnd, kWorkBegin, kWorkEnd };
struct Point {
  PointKind kind = PointKind::kCallBegin;
  uint32_t row = 0;  // in FlowRun::calls or FlowRun::works
};

// Kind of an edge. Of edges that explain a point equally well, the first one binds.
enum class EdgeKind : uint8_t {
  kSegment,   // what a thread did since its previous call
  kHandOver,  // what another thread did until this one resumed, then what this one did
  kCall,      // own time of a call
  kReturn,    // end of the work that a blocking call waited for
  // End of work that a thread waited for without a waiting call, or of the last work before
  // unrecorded time.
  kAwait,
  kQueue,     // space in the launch queue
  kStaged,    // begin of a copy during which its call returns: the host moved the bytes
  kLaunch,    // submission of work by its call
  kStream,    // previous work on the same stream or in the same graph launch
  kEvent,     // work of another stream, by an event
  kWork,      // the work itself
  kStart,     // begin of the run: the point has no known predecessor
  kOrder,     // work that the host waited for before it launched this on another stream
};
constexpr size_t kEdgeKinds = 13;

constexpr uint32_t kNoPoint = UINT32_MAX;

struct SegmentPart {
  FlowCause cause = FlowCause::kHostGap;
  int64_t ns = 0;
};

// An interval in which a thread was silent while another one worked and then handed over to it.
struct HandOverSilence {
  uint32_t point = kNoPoint;        // begin of the thread's next call
  uint32_t from_call = kNoFlowRow;  // the other thread's last call in the interval
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct FlowGraph {
  int64_t start_ns = 0;
  int64_t end_ns = INT64_MAX;  // later points are not ends of the run
  bool bounded = false;        // made by bounded_graph()
  std::vector<int64_t> time_ns;      // per point, as recorded
  std::vector<int64_t> residual_ns;  // per point, never negative
  std::vector<uint32_t> first_edge;  // per point, plus one; a point's first edge binds
  std::vector<uint32_t> source;      // per edge: an earlier point; kNoPoint = begin of the run
  std::vector<int64_t> lag_ns;       // per edge
  std::vector<EdgeKind> kind;        // per edge
  std::vector<uint32_t> item;        // per point: 2 * (call, or calls + work), plus 1 for an end
  std::vector<uint32_t> point_of;    // per item: its point
  // Composition of the lags of kSegment and kHandOver edges.
  std::vector<uint32_t> segment_edge;  // ascending
  std::vector<uint32_t> first_part;    // per segment, plus one
  std::vector<FlowCause> part_cause;
  std::vector<int64_t> part_ns;
  // One per kHandOver edge, by point.
  std::vector<HandOverSilence> silences;
  uint32_t calls = 0;
  uint64_t cut_edges = 0;  // dropped because they would close a cycle: clocks or ids contradict
  uint64_t hand_overs = 0;
  uint64_t confirmed_hand_overs = 0;  // between threads joined by forward-backward links

  size_t points() const { return time_ns.size(); }
  Point point(uint32_t p) const;
  uint32_t call_point(uint32_t call, bool end) const { return point_of[2 * call + end]; }
  uint32_t work_point(uint32_t work, bool end) const { return point_of[2 * (calls + work) + end]; }
  // Index of a kSegment or kHandOver edge in segment_edge. O(log n).
  size_t segment_of(uint32_t edge) const;
  // Memory of all vectors in bytes.
  uint64_t bytes() const;
};

// The graph keeps no reference to run. floors: replaces run.floors, with as many names; points and
// edges are the same for all floors, binding edges are not.
FlowGraph make_flow_graph(const FlowRun& run);
FlowGraph make_flow_graph(const FlowRun& run, const FlowFloors& floors);

// Threads and intervals that the lag of a kSegment or kHandOver edge into the begin of a call
// consists of. The second may be empty.
struct SegmentSpan {
  ThreadId thread;
  Interval span;
};
std::array<SegmentSpan, 2> segment_spans(const FlowRun& run, const FlowGraph& graph, uint32_t point,
                                         EdgeKind kind);

// The graph restricted to `window`, for replays inside it. Earlier points keep their recorded time
// under all edits; edges and residuals from there count from the window's begin. A replay without
// edits still gives every recorded time.
FlowGraph bounded_graph(const FlowGraph& graph, Interval window);

// True if a run may end with this point: ends of work except helpers, and of calls on threads that
// launch work. A thread that only polls may continue for any time.
bool is_end_point(const FlowRun& run, Point point);
// The same, and the point is not after the graph's end_ns.
bool may_end(const FlowRun& run, const FlowGraph& graph, uint32_t point);
// True for work other than helpers that ends within the graph's bound.
bool counts_work(const FlowRun& run, const FlowGraph& graph, uint32_t work);

}  // namespace assay
