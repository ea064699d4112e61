#pragma once

// The time that a run would save without each resource, from replays of the graph.
// Definitions: docs/metrics.md, Diagnosis.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "flow/graph.h"
#include "flow/lanes.h"

namespace assay {

// Resources that compete for the time of a run. All time of the host is one group, because two
// pieces on one thread replace each other.
enum class GainGroup : uint8_t {
  kHost,
  kDevice,
  kCopy,
  kMigration,
  kComm,
  kUnseen,   // unexplained time: no resource; it widens intervals
  kOutside,  // recorded waits of the host for external input
};
constexpr size_t kGainGroups = 7;
std::string_view gain_group_name(GainGroup group);

// Named parts of the host's group.
enum class HostPart : uint8_t { kWork, kLaunch, kAlloc, kInput, kStartup };
constexpr size_t kHostParts = 5;
std::string_view host_part_name(HostPart part);

// The pieces that a group's time consists of.
struct GainPieces {
  uint64_t count = 0;
  uint64_t half_in = 0;  // number of the longest that hold half of the time
  int64_t median_ns = 0;
  int64_t largest_ns = 0;
};

struct GroupGain {
  int64_t gain_ns = 0;   // time saved without the group; bounded
  int64_t low_ns = 0;    // least over the three models of unexplained time
  int64_t high_ns = 0;   // most over them; bounded
  int64_t only_ns = 0;   // length of the window with this group alone
  int64_t share_ns = 0;  // Shapley value; all of them and GainTable::rest_ns sum to keep_ns
  int64_t total_ns = 0;  // sum over the pieces
  GainPieces pieces;
};

struct GainTable {
  Interval window;            // ends with the last work or page migration
  int64_t idle_ns = 0;        // time in which the busiest device is idle
  int64_t rest_ns = 0;        // length without all groups
  int64_t order_gain_ns = 0;  // time saved without the host's waits for the device; bounded
  std::array<GroupGain, kGainGroups> groups;
  std::array<int64_t, kHostParts> host_gain_ns{};  // time saved without each part; bounded
  // Length of the window by the three models of unexplained time.
  int64_t keep_ns = 0;
  int64_t drop_ns = 0;
  int64_t pin_ns = 0;
  // Groups that have time, ascending, and the time saved without each set of them. Bit i of the
  // index is players[i]. Not bounded.
  std::vector<GainGroup> players;
  std::vector<int64_t> without;

  int64_t window_ns() const { return window.end_ns - window.start_ns; }
  const GroupGain& of(GainGroup group) const { return groups[static_cast<size_t>(group)]; }
  GroupGain& of(GainGroup group) { return groups[static_cast<size_t>(group)]; }
  // Time saved without both groups.
  int64_t together_ns(GainGroup a, GainGroup b) const;
};

// graph: of the whole run. Work that ends after the window is left out. Replays all sets of groups:
// up to 2^kGainGroups lanes.
GainTable find_gains(const FlowRun& run, const FlowGraph& graph, Interval window);

// Intervals in which the host reads managed memory page by page, inferred from migrations to the
// host in close succession. Ascending and disjoint.
std::vector<Interval> host_page_stretches(const FlowRun& run);

// Time in ns in the window in which the busiest device works, without page migrations and other
// helpers.
int64_t working_ns(const FlowRun& run, Interval window);

// Shapley value of each player in ns; they sum exactly to the value of the full set. Bit i of the
// index of `values` is player i.
std::vector<int64_t> shapley_ns(size_t players, const std::vector<int64_t>& values);

}  // namespace assay
