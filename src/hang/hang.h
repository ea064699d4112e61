#pragma once

// Which rank of a job stands still, and which ranks wait for it.
//
// Problem: when a job hangs, every rank waits in a collective; of the dumps of all ranks one or two
// say something that the others do not.
// Method: per process group, by its name and its members, the ranks are held against each other: who
// asked for fewer collectives, whose device finished fewer, who asks for something else. Ranks that
// ask for something else come first, then those whose device stopped or that left no trace of
// asking, then those that are behind and wait for nobody: the sinks of the graph of who waits for
// whom over all groups.
// Effect: tests/golden/check_hang.py.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "records/flight.h"

namespace assay {

enum class HangReason : uint8_t {
  kNeverAsked,  // the others asked for a collective that this rank's host never asked for
  kDevice,      // its device did not start or finish what those of the others did
  kSilent,      // its dump has no entries
  kNoDump,
  kOperation,  // it asks for another operation than the others,
  kSize,       // for other sizes,
  kType,       // for another type of elements,
  kOrder,      // or for something else at the same place of the program
};

struct HangGroup {
  std::string desc;
  std::vector<int64_t> ranks;             // members, ascending as in the dumps
  std::map<int64_t, int64_t> enqueued;    // by rank: number of the last collective that was asked for
  std::map<int64_t, int64_t> completed;   // the same of the last that is finished
  int64_t stuck_at = -1;                  // the oldest unfinished collective; -1 = none
  std::string stuck_call = {};
  std::vector<int64_t> started = {};      // ranks that are in it
};

struct HangCulprit {
  int64_t rank = 0;
  HangReason reason = HangReason::kNeverAsked;
  size_t group = SIZE_MAX;  // into HangReport::groups; SIZE_MAX = none
  int64_t at = -1;          // number of its last collective, asked for or finished by the reason
  int64_t others_at = -1;
  std::string asks = {};    // what it asks for, where that is the reason
  std::string others_ask = {};
  std::string last_call = {};
  std::vector<FlightFrame> frames = {};  // of its last call
  // Further reasons, e.g. also behind on the host.
  std::vector<HangReason> also = {};
};

struct HangReport {
  std::vector<int64_t> world;   // ranks of all groups
  std::vector<int64_t> absent;  // without a dump
  std::vector<HangGroup> groups;  // largest first; of two members and more
  bool hangs = false;             // something is unfinished
  std::vector<HangCulprit> culprits;  // by rank; none where nothing hangs or nothing tells
  std::vector<int64_t> waiting;       // the other ranks with unfinished calls
  // Of one of these the stack of the call it waits in.
  int64_t waiting_rank = -1;
  std::vector<FlightFrame> waiting_frames = {};
  bool has_frames = false;
  int64_t timeout_ms = -1;
};

// dumps: one a rank, each with a rank. unread: ranks whose dumps are damaged, of which nothing is
// known; they are no culprits, and among those without a dump. A rank without a dump is only blamed
// where these are few: one, or a quarter of the job.
HangReport find_hang(const std::vector<FlightDump>& dumps, const std::set<int64_t>& unread = {});

}  // namespace assay
