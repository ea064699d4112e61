#pragma once

// The bottleneck of a run, from the table of gains alone (flow/gains.h).

#include <cstdint>
#include <string_view>

#include "flow/gains.h"
#include "trace/iterations.h"

namespace assay {

// How the two largest gains stand to each other.
enum class GainRelation : uint8_t {
  kNoGpu,      // no device work
  kNoHost,     // no call is recorded: gaps have no cause
  kBound,      // the first is the bottleneck
  kAlternate,  // they do not overlap: their gains add up
  kKeepStep,   // little without one, much without both
  kUndecided,  // unexplained time may exchange them
  kOneEvent,   // one occurrence: no rate
};
constexpr size_t kGainRelations = 7;
std::string_view gain_relation_name(GainRelation relation);

// The part of the host that gains half of what the host gains.
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
  bool joint = false;                     // the second is the one with which the first saves far more than alone

  // Length of the window without the group.
  int64_t without_ns(GainGroup group) const { return table.window_ns() - table.of(group).gain_ns; }
};

// Decides for a window of the whole graph; iterations may be null.
Decision decide_run(const FlowRun& run, const FlowGraph& graph, Interval window,
                    const Windows* iterations);

// Names collectives before the host if both save far more together than alone and collectives are exposed for longer than
// the device is idle. A collective ends when its last rank arrives: a faster host of this rank may only wait longer in it.
// Times are summed over all devices.
void weigh_waits(int64_t collective_ns, int64_t idle_ns, Decision& decision);

// Fills everything from the table and `repeats`.
void decide(Decision& decision, bool has_work, bool has_calls);

}  // namespace assay
