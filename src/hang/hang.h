#pragma once

// Finds the rank that stalls a job, and the ranks that wait for it.
//
// Problem: when a job hangs, every rank waits in a collective, and only one or two of the ranks'
// flight recorder dumps differ from the others.
// Method: compares the ranks of each process group; groups are identified by name and members. A
// rank may have submitted fewer collectives, finished fewer, or called a different one. The
// culprits are ranks with a different call; if there are none, ranks with a stalled device or an
// empty or missing dump; if there are none, ranks that lag and wait for no other rank: the sinks of
// the wait-for graph over all groups.
// Effect: tests/golden/check_hang.py.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "records/flight.h"

namespace assay {

enum class HangReason : uint8_t {
  kNeverRequested,  // its host has not submitted a collective that the others have
  kDevice,      // its device did not start or finish what other devices did
  kSilent,      // its dump has no entries
  kNoDump,
  kOperation,  // its collective differs in the operation,
  kSize,       // in the sizes,
  kType,       // in the element type,
  kOrder,      // or in the order of calls
};

struct HangGroup {
  std::string desc;
  std::vector<int64_t> ranks;             // members, ascending as in the dumps
  std::map<int64_t, int64_t> enqueued;    // by rank: sequence number of the last submitted
                                          // collective
  std::map<int64_t, int64_t> completed;   // by rank: sequence number of the last finished
                                          // collective
  int64_t stuck_at = -1;                  // the oldest unfinished collective; -1 = none
  std::string stuck_call = {};
  std::vector<int64_t> started = {};      // ranks with a device that started it
};

struct HangCulprit {
  int64_t rank = 0;
  HangReason reason = HangReason::kNeverRequested;
  size_t group = SIZE_MAX;  // into HangReport::groups; SIZE_MAX = none
  int64_t at = -1;          // sequence number of its last collective: submitted or finished,
                            // depending on `reason`
  int64_t others_at = -1;
  std::string asks = {};    // its call, if that is the reason
  std::string others_ask = {};
  std::string last_call = {};
  std::vector<FlightFrame> frames = {};  // of its last call
  // Further reasons that also apply, such as a late host.
  std::vector<HangReason> also = {};
};

struct HangReport {
  std::vector<int64_t> world;   // ranks of all groups
  std::vector<int64_t> absent;  // ranks without a dump
  std::vector<HangGroup> groups;  // with two members or more, largest first
  bool hangs = false;             // a collective is unfinished
  std::vector<HangCulprit> culprits;  // by rank; empty if nothing hangs or no dump differs
  std::vector<int64_t> waiting;       // the other ranks with unfinished collectives
  // One of the waiting ranks, and the call stack of its unfinished call.
  int64_t waiting_rank = -1;
  std::vector<FlightFrame> waiting_frames = {};
  bool has_frames = false;
  int64_t timeout_ms = -1;
};

// The dumps must have distinct ranks. `unread`: ranks with a damaged dump; they count as ranks
// without a dump but are never reported as culprits. Other ranks without a dump are reported only
// if they are few: one, or up to a quarter of the job.
HangReport find_hang(const std::vector<FlightDump>& dumps, const std::set<int64_t>& unread = {});

}  // namespace assay
