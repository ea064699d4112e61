#pragma once

// Replays without different sets of resources, several in one pass over the graph. Every lag is
// divided into parts, each of one class. A lane keeps some classes; a lane that keeps all gives the
// recorded times.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/intervals.h"
#include "flow/graph.h"

namespace assay {

// The class of a part of a lag.
enum class GainClass : uint8_t {
  kWork,       // operators, frames, and unattributed time
  kLaunch,     // API calls, returns of waits, launch queue and latency
  kAlloc,      // memory of the device
  kInput,      // loading data
  kStartup,    // one-time initialization, graph capture
  kDevice,     // kernels, and gaps between queued work
  kCopy,       // copies and fills, and calls while their own copy is staged
  kMigration,  // page migrations, and the host and kernels that wait for them
  kComm,       // collectives
  kUnseen,     // unexplained delay over kFlowMarginNs, not at the end of a call
  kOutside,    // recorded waits of the host for external input
  kLate,       // other unexplained delay; part of the host's group
  kStands,     // fixed: before the window, unrecorded, or between nodes of a graph
  kCut,        // a lane that keeps it drops the host's waits for the device
};
constexpr size_t kGainClasses = 14;

struct LaneGraph {
  int64_t from_ns = 0;               // begin of the window, relative to the graph's begin
  // Last end of work or page migration, relative to the graph's begin.
  int64_t end_ns = 0;
  std::vector<int64_t> time_ns;      // per point, relative to the graph's begin
  std::vector<uint32_t> first_edge;  // per point + 1
  std::vector<uint32_t> source;      // per edge: an earlier point; kNoPoint = the graph's begin
  std::vector<uint32_t> first_part;  // per edge + 1
  std::vector<GainClass> part_class;
  std::vector<int64_t> part_ns;
  std::vector<uint32_t> pinned;  // points with the longest residuals, ascending
  std::vector<uint32_t> ends;    // points at which the run may end

  size_t points() const { return time_ns.size(); }
  int64_t window_ns() const { return end_ns - from_ns; }
};

// Time before the window is fixed, and work that ends after it is left out. pulls: intervals in
// which the host reads managed memory page by page, ascending and disjoint.
LaneGraph make_lane_graph(const FlowRun& run, const FlowGraph& graph, Interval window,
                          std::span<const Interval> pulls);

constexpr size_t kReplayLanes = 8;
using LaneTimes = std::array<int64_t, kReplayLanes>;

// For each class and lane: all bits set if the lane keeps the class, else none.
struct LaneMasks {
  LaneMasks();  // all lanes as recorded
  void remove(size_t lane, GainClass what) { left[static_cast<size_t>(what)][lane] = 0; }
  void cut_waits(size_t lane) { left[static_cast<size_t>(GainClass::kCut)][lane] = -1; }

  std::array<LaneTimes, kGainClasses> left;
};

// Length of the window per lane, in ns. With `pins`, points of graph.pinned happen no earlier than
// recorded if the lane keeps kUnseen. `times` receives the time of every point.
LaneTimes replay_lanes(const LaneGraph& graph, const LaneMasks& masks, bool pins,
                       std::vector<LaneTimes>& times);

}  // namespace assay
