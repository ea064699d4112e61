#pragma once

// What limits a run, decided on the table of gains alone (flow/gains.h). Words, no sentences.

#include <cstdint>
#include <string_view>

#include "flow/gains.h"
#include "trace/iterations.h"

namespace assay {

// How the two largest gains stand to each other.
enum class GainRelation : uint8_t {
  kNoGpu,      // no device work
  kNoHost,     // no call is recorded: gaps have no cause
  kBound,      // the first leads
  kAlternate,  // neither runs beside the other: their gains add up
  kKeepStep,   // neither alone gives much, both together do
  kUndecided,  // what nothing explains may make another one the first
  kOneEvent,   // seen once: no rate
};
constexpr size_t kGainRelations = 7;
std::string_view gain_relation_name(GainRelation relation);

// The narrow name of the host's group, where one part of it gives half of what it gives.
enum class NarrowHost : uint8_t { kNone, kInput, kAlloc, kStartup, kWaiting };
std::string_view narrow_host_name(NarrowHost narrow);  // empty for kNone

struct Decision {
  GainTable table;
  GainRelation relation = GainRelation::kNoGpu;
  GainGroup word = GainGroup::kDevice;  // leads; of kNoGpu and kNoHost it says nothing
  GainGroup second = GainGroup::kHost;
  NarrowHost narrow = NarrowHost::kNone;  // where the word is kHost
  bool brief = false;                     // the window is shorter than a millisecond
  uint64_t repeats = 0;                   // how often the run does the same
  int64_t together_ns = 0;                // the window is shorter by this without both; not bounded

  // The two numbers that decide: what the window takes if the group cost nothing.
  int64_t without_ns(GainGroup group) const { return table.window_ns() - table.of(group).gain_ns; }
};

// graph: of the whole run. iterations: null where they are not known.
Decision decide_run(const FlowRun& run, const FlowGraph& graph, Interval window,
                    const Windows* iterations);

// The decision alone: fills all but the table and what it is told, from them.
void decide(Decision& decision, bool has_work, bool has_calls);

}  // namespace assay
