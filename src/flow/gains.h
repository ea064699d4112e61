#pragma once

// What a run would be shorter by if a resource cost nothing: one table, from replays of the graph.
// Definitions: docs/metrics.md, Diagnosis.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "flow/graph.h"
#include "flow/lanes.h"

namespace assay {

// Resources that compete for a run's time. Two pieces of one thread replace each other: what is
// always the same resource is one group.
enum class GainGroup : uint8_t {
  kHost,
  kDevice,
  kCopy,
  kMigration,
  kComm,
  kUnseen,   // what nobody saw: no resource, it widens
  kOutside,  // the host waited for the outside, as a row shows
};
constexpr size_t kGainGroups = 7;
std::string_view gain_group_name(GainGroup group);

// Parts of the host's group that have a name of their own.
enum class HostPart : uint8_t { kWork, kLaunch, kAlloc, kInput, kStartup };
constexpr size_t kHostParts = 5;
std::string_view host_part_name(HostPart part);

// The pieces that a group's time consists of.
struct GainPieces {
  uint64_t count = 0;
  uint64_t half_in = 0;  // so many of the longest hold half of the time
  int64_t median_ns = 0;
  int64_t largest_ns = 0;
  Interval largest;  // the first of the longest
};

struct GroupGain {
  int64_t gain_ns = 0;   // the window is shorter by this if the group cost nothing; bounded
  int64_t low_ns = 0;    // least over the three models of what nothing explains
  int64_t high_ns = 0;   // most over them, without bounds
  int64_t only_ns = 0;   // what the window takes if only this group cost anything
  int64_t share_ns = 0;  // Shapley value; those of all groups and GainTable::rest_ns add up to it
  int64_t total_ns = 0;  // of all pieces
  GainPieces pieces;
};

struct GainTable {
  Interval window;            // from the begin that was asked for to the last end of work or of moved pages in it
  int64_t idle_ns = 0;        // of it, the busiest device does not work
  int64_t rest_ns = 0;        // left when no group costs anything
  int64_t order_gain_ns = 0;  // shorter by this without the host's waits for the device; bounded
  std::array<GroupGain, kGainGroups> groups;
  std::array<int64_t, kHostParts> host_gain_ns{};  // of each part alone; bounded
  // The window with what nothing explains as it was, and without it.
  int64_t keep_ns = 0;
  int64_t drop_ns = 0;
  int64_t pin_ns = 0;
  // Groups that have time, ascending, and what the window is shorter by without each set of them:
  // bit i of the place stands for players[i]. Not bounded.
  std::vector<GainGroup> players;
  std::vector<int64_t> without;

  int64_t window_ns() const { return window.end_ns - window.start_ns; }
  const GroupGain& of(GainGroup group) const { return groups[static_cast<size_t>(group)]; }
  GroupGain& of(GainGroup group) { return groups[static_cast<size_t>(group)]; }
  // Without two groups.
  int64_t together_ns(GainGroup a, GainGroup b) const;
};

// graph: of the whole run. Work that ends after the window ends nothing.
GainTable find_gains(const FlowRun& run, const FlowGraph& graph, Interval window);

// Stretches in which the host reads managed memory page by page: moves to the host, each soon
// behind the one before.
std::vector<Interval> host_page_stretches(const FlowRun& run);

// Of a window the time in which the busiest device works; pages that move are no work of one.
int64_t working_ns(const FlowRun& run, Interval window);

// What each of n players adds on average over all orders in which they come, to the ns: the sum is
// values of all. values: by set, bit i for player i.
std::vector<int64_t> shapley_ns(size_t players, const std::vector<int64_t>& values);

}  // namespace assay
