#pragma once

// The replay of replay.h for several sets of resources that cost nothing, in one pass over the
// graph. Every lag is cut into parts, each of one class; a lane says which classes are left.
//
// A lane in which every class is left is the record itself.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/intervals.h"
#include "flow/graph.h"

namespace assay {

// What a part of a lag is the time of.
enum class GainClass : uint8_t {
  kWork,       // operators, frames, and what nothing tells
  kLaunch,     // calls, and how long work usually takes to begin behind them
  kAlloc,      // memory of the device
  kInput,      // loading data
  kStartup,    // one-off costs, recording of graphs
  kDevice,     // kernels, and gaps between queued work
  kCopy,       // copies and fills, and calls while their own copy is staged
  kMigration,  // pages of managed memory, and the host that reads them
  kComm,       // collectives
  kUnseen,     // work began later than anything recorded explains, by more than kFlowMarginNs
  kOutside,    // the host waited for the outside, and a row shows it
  kLate,       // as kUnseen, by less: how much longer than usual a launch took
  kStands,     // before the window, unrecorded, or between nodes of a graph: nothing shortens it
  kCut,        // takes the waits of the host out of the graph where it is left: no time
};
constexpr size_t kGainClasses = 14;

struct LaneGraph {
  int64_t from_ns = 0;               // begin of the window, from the graph's begin
  int64_t end_ns = 0;                // last end of work or of moved pages, from the graph's begin
  std::vector<int64_t> time_ns;      // per point, from the graph's begin
  std::vector<uint32_t> first_edge;  // per point + 1
  std::vector<uint32_t> source;      // per edge: an earlier point; kNoPoint = the begin
  std::vector<uint32_t> first_part;  // per edge + 1
  std::vector<GainClass> part_class;
  std::vector<int64_t> part_ns;
  std::vector<uint32_t> pinned;  // points behind the longest residuals, ascending
  std::vector<uint32_t> ends;    // points that the run may end with

  size_t points() const { return time_ns.size(); }
  int64_t window_ns() const { return end_ns - from_ns; }
};

// What happened until the window begins stands, and work that ends after it ends nothing. pulls: stretches in which the host reads managed
// memory page by page, ascending and disjoint.
LaneGraph make_lane_graph(const FlowRun& run, const FlowGraph& graph, Interval window,
                          std::span<const Interval> pulls);

constexpr size_t kReplayLanes = 8;
using LaneTimes = std::array<int64_t, kReplayLanes>;

// Of each class whether a lane leaves it: all bits set, or none.
struct LaneMasks {
  LaneMasks();  // all lanes as recorded
  void remove(size_t lane, GainClass what) { left[static_cast<size_t>(what)][lane] = 0; }
  void cut_waits(size_t lane) { left[static_cast<size_t>(GainClass::kCut)][lane] = -1; }

  std::array<LaneTimes, kGainClasses> left;
};

// Per lane from the begin of the window to the last end. pins: points behind the longest residuals
// come no earlier than recorded where kUnseen is left. times: room for every point, then its times.
LaneTimes replay_lanes(const LaneGraph& graph, const LaneMasks& masks, bool pins,
                       std::vector<LaneTimes>& times);

}  // namespace assay
