#pragma once

// The dependency graph of a run: points with a time, edges with a lag. A point happens at the
// latest (time of source + lag) over its edges, plus what no edge explains (its residual), which
// the edge that binds carries. Points are numbered in an order in which every edge leads forward.

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

// What an edge stands for; of edges that explain a point equally well the earlier one binds.
enum class EdgeKind : uint8_t {
  kSegment,   // what a thread did since its call before
  kHandOver,  // what another thread did until this one went on, then what this one did
  kCall,      // own time of a call
  kReturn,    // the end of what a blocking call waited for
  kAwait,     // the end of what a thread waited for without a call that waits, or recorded last
  kQueue,     // room in the launch queue
  kStaged,    // the begin of a copy that its call returns within: the host moved its bytes
  kLaunch,    // hand-over of work
  kStream,    // work before on the same stream, or in the same graph launch
  kEvent,     // work of another stream that an event told to wait for
  kWork,      // the work itself
  kStart,     // the begin of the run: nothing is known before the point
  kOrder,     // work that the host had waited for before it launched this on another stream
};
constexpr size_t kEdgeKinds = 13;

constexpr uint32_t kNoPoint = UINT32_MAX;

struct SegmentPart {
  FlowCause cause = FlowCause::kHostGap;
  int64_t ns = 0;
};

// A stretch in which a thread was silent and another one worked, which then handed over to it.
struct HandOverSilence {
  uint32_t point = kNoPoint;        // the begin of the call that came next
  uint32_t from_call = kNoFlowRow;  // the other thread's last call in it
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct FlowGraph {
  int64_t start_ns = 0;
  int64_t end_ns = INT64_MAX;  // points recorded later end nothing
  bool bounded = false;        // bounded_graph() made it
  std::vector<int64_t> time_ns;      // per point, as recorded
  std::vector<int64_t> residual_ns;  // per point, never negative
  std::vector<uint32_t> first_edge;  // per point + 1; the first edge of a point binds
  std::vector<uint32_t> source;      // per edge: an earlier point; kNoPoint = the begin of the run
  std::vector<int64_t> lag_ns;       // per edge
  std::vector<EdgeKind> kind;        // per edge
  std::vector<uint32_t> item;        // per point: its call or work, times 2, plus 1 at its end
  std::vector<uint32_t> point_of;    // per item as above: calls first, then works
  // What the lags of kSegment and kHandOver edges consist of, by edge.
  std::vector<uint32_t> segment_edge;  // ascending
  std::vector<uint32_t> first_part;    // per segment + 1
  std::vector<FlowCause> part_cause;
  std::vector<int64_t> part_ns;
  // Hand-overs by the begin of the call that they lead to, ascending.
  std::vector<HandOverSilence> silences;
  uint32_t calls = 0;
  uint64_t cut_edges = 0;  // that would have closed a circle: clocks or ids that contradict
  uint64_t hand_overs = 0;
  uint64_t confirmed_hand_overs = 0;  // between threads that forward and backward links join

  size_t points() const { return time_ns.size(); }
  Point point(uint32_t p) const;
  uint32_t call_point(uint32_t call, bool end) const { return point_of[2 * call + end]; }
  uint32_t work_point(uint32_t work, bool end) const { return point_of[2 * (calls + work) + end]; }
  // Of a kSegment or kHandOver edge.
  size_t segment_of(uint32_t edge) const;
  // Bytes of all of it.
  uint64_t bytes() const;
};

// run must outlive nothing: the graph keeps no reference to it. floors: in place of the run's own,
// with its number of names; points and edges are the same for all floors, what binds is not.
FlowGraph make_flow_graph(const FlowRun& run);
FlowGraph make_flow_graph(const FlowRun& run, const FlowFloors& floors);

// What the lag of a kSegment or kHandOver edge into the begin of a call consists of: what a thread
// did in a stretch of time. The second stretch may be empty.
struct SegmentSpan {
  ThreadId thread;
  Interval span;
};
std::array<SegmentSpan, 2> segment_spans(const FlowRun& run, const FlowGraph& graph, uint32_t point,
                                         EdgeKind kind);

// The graph of what lies in `window`, for replays inside it. Points before it stay at their recorded
// time whatever is edited; an edge from there counts from the window's begin, and so does time that
// no edge explains. A replay without edits still gives every recorded time.
FlowGraph bounded_graph(const FlowGraph& graph, Interval window);

// Whether a run may end with this point: work does, and calls of threads that launch work; a thread
// that only polls goes on for as long as it likes.
bool is_end_point(const FlowRun& run, Point point);
// The same for a point inside the bound of this graph. Points after the bound end nothing.
bool may_end(const FlowRun& run, const FlowGraph& graph, uint32_t point);
// True for kernels, copies and fills of the program that end inside the bound of the graph.
bool counts_work(const FlowRun& run, const FlowGraph& graph, uint32_t work);

}  // namespace assay
