#pragma once

// Which rank of a job stalls, and which ranks wait for it.
//
// Problem: when a job hangs, every rank waits in a collective. One or two dumps among those of all
// ranks differ from the others.
// Method: the ranks of each process group are compared, and groups are known by name and members.
// A rank may have requested fewer collectives, may have finished fewer, or may ask for something
// else. Ranks that ask for something else come first. Stopped devices and empty or missing dumps
// follow. Else ranks that lag and wait for no other are named, the sinks of the graph of who waits
// for whom over all groups.
// Effect: tests/golden/check_hang.py.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "records/flight.h"

namespace assay {

enum class HangReason : uint8_t {
  kNeverRequested,  // the others requested a collective that the host of this rank never did
  kDevice,      // its device did not start or finish what other devices did
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
  std::map<int64_t, int64_t> enqueued;    // by rank: number of the last collective that was requested
  std::map<int64_t, int64_t> completed;   // the same of the last that is finished
  int64_t stuck_at = -1;                  // the oldest unfinished collective; -1 = none
  std::string stuck_call = {};
  std::vector<int64_t> started = {};      // ranks that are in it
};

struct HangCulprit {
  int64_t rank = 0;
  HangReason reason = HangReason::kNeverRequested;
  size_t group = SIZE_MAX;  // into HangReport::groups; SIZE_MAX = none
  int64_t at = -1;          // its last collective, requested or finished by the reason
  int64_t others_at = -1;
  std::string asks = {};    // what it asks for, where that is the reason
  std::string others_ask = {};
  std::string last_call = {};
  std::vector<FlightFrame> frames = {};  // of its last call
  // Further reasons, e.g. also late on the host.
  std::vector<HangReason> also = {};
};

struct HangReport {
  std::vector<int64_t> world;   // ranks of all groups
  std::vector<int64_t> absent;  // without a dump
  std::vector<HangGroup> groups;  // largest first; of two members and more
  bool hangs = false;             // something is unfinished
  std::vector<HangCulprit> culprits;  // by rank; none where nothing hangs or no dump differs
  std::vector<int64_t> waiting;       // the other ranks with unfinished calls
  // A rank of these, and the stack of the call that it waits in.
  int64_t waiting_rank = -1;
  std::vector<FlightFrame> waiting_frames = {};
  bool has_frames = false;
  int64_t timeout_ms = -1;
};

// Each of the dumps has a rank of its own. Nothing is known of `unread`, ranks with damaged dumps.
// They are counted without a dump, and never named. Another rank without a dump is only named where
// such ranks are few, one or a quarter of the job.
HangReport find_hang(const std::vector<FlightDump>& dumps, const std::set<int64_t>& unread = {});

}  // namespace assay
