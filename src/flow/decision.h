#pragma once

// The bottleneck of a run, from the table of gains alone (flow/gains.h).

#include <cstdint>
#include <string_view>

#include "flow/gains.h"
#include "trace/iterations.h"

namespace assay {

// How the two largest gains relate.
enum class GainRelation : uint8_t {
  kNoGpu,      // no device work
  kNoHost,     // no call is recorded: gaps have no cause
  kBound,      // the first is the bottleneck
  kAlternate,  // they do not overlap: their gains add up
  kKeepStep,   // removing one saves little, removing both saves much
  kUndecided,  // unexplained time may change their order
  kOneEvent,   // one occurrence, so there is no rate
};
constexpr size_t kGainRelations = 7;
std::string_view gain_relation_name(GainRelation relation);

// The part of the host with at least half of the host's gain.
enum class NarrowHost : uint8_t { kNone, kInput, kAlloc, kStartup, kWaiting };
std::string_view narrow_host_name(NarrowHost narrow);  // empty for kNone

struct Decision {
  GainTable table;
  GainRelation relation = GainRelation::kNoGpu;
  GainGroup word = GainGroup::kDevice;  // the bottleneck; meaningless with kNoGpu and kNoHost
  GainGroup second = GainGroup::kHost;
  NarrowHost narrow = NarrowHost::kNone;  // if the word is kHost
  bool brief = false;                     // the window is shorter than a millisecond
  uint64_t repeats = 0;                   // number of equal steps
  int64_t together_ns = 0;                // saved without both; not bounded
  bool joint = false;                     // both together save far more than alone

  // Length of the window without the group.
  int64_t without_ns(GainGroup group) const { return table.window_ns() - table.of(group).gain_ns; }
};

// graph: of the whole run. iterations may be null. kNoGpu if the run has no device work.
Decision decide_run(const FlowRun& run, const FlowGraph& graph, Interval window,
                    const Windows* iterations);

// Ranks collectives before the host if both save far more together than alone and exposed
// collectives outlast the device's idle time. A collective ends when its last rank arrives, so a
// faster host on this rank may only wait longer in it. Times are summed over all devices.
void weigh_waits(int64_t collective_ns, int64_t idle_ns, Decision& decision);

// Fills everything from the table and `repeats`.
void decide(Decision& decision, bool has_work, bool has_calls);

}  // namespace assay
