#pragma once

// The records of a job put together: which parts of collectives belong to one meeting, and what
// each rank did on its own between two of them.
//
// Problem: a hundred thousand ranks with clocks of their own, some without a record, groups whose
// names or members may be told in part, and traces that began at different moments.
// Method: a part belongs to the meeting of its number in the process group where every member
// recorded numbers; else of its place within (iteration, group, kind) where all members that have
// the iteration count alike; never of its place in a whole trace. Own work is the time since the
// latest end of an earlier collective of the rank, transfer the shortest part of a meeting, that of
// the last to come: both are differences on one clock, so nothing rests on aligned clocks. What is
// not matched stays in the chain of its rank with the length it had.
// Effect: docs/measured/fleet.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/record.h"

namespace assay {

constexpr uint32_t kNoMeeting = UINT32_MAX;
constexpr uint32_t kAlone = UINT32_MAX;  // group of a part that meets nobody
constexpr uint32_t kNoColumn = UINT32_MAX;
constexpr int64_t kNoEnd = INT64_MIN;

// Records that could not be used, each with its reason.
struct FleetUnused {
  std::string what;  // file and offset, or path of the trace
  std::string why;
};

struct FleetRank {
  int64_t number = 0;
  RankRecord head;                  // arrivals, operations and kernels are left out
  std::string_view payload;         // of its record
  std::vector<uint32_t> group_ids;  // into FleetJob::groups, per group of the record
};

// A process group and kind of collective over all ranks.
struct FleetGroup {
  RecordGroup key;                // members empty where they are told in part
  std::vector<uint32_t> members;  // places in FleetJob::ranks, ascending
  bool ambiguous = false;         // more ranks have it than it has members
  bool untold = false;            // no process group is told, and the ends do not say that all meet
  bool by_number = false;
  uint64_t unmatched = 0;  // parts
  // Ends of some of its meetings on each member's clock, member by member; kNoEnd where one did not
  // come. What clocks are aligned on.
  uint32_t samples = 0;
  std::vector<int64_t> ends = {};

  bool meets() const { return key.waits && !ambiguous && !untold && members.size() > 1; }
  bool complete() const {
    return key.size >= 0 && static_cast<uint64_t>(key.size) <= members.size();
  }
};

// A visit of a rank to a meeting. Its begin: the end of `prev` and its own work after it.
struct FleetVisit {
  uint32_t rank = 0;
  uint32_t prev = kNoMeeting;  // kNoMeeting: the rank's first
  // Own work. Of the first, whose own work began before the recording, when it began; 0 until the
  // clocks are known (fleet/clocks.h).
  int64_t work_ns = 0;
};

struct FleetMeeting {
  uint32_t group = kAlone;
  uint32_t column = kNoColumn;  // of its first visit
  int64_t transfer_ns = 0;      // from the last to come to the end
  uint32_t first_visit = 0;     // range in FleetJob::visits
  uint32_t visits = 0;
  bool complete = false;  // all members of the group came, as far as is told
};

struct FleetChain {
  uint32_t last_meeting = kNoMeeting;  // kNoMeeting: the rank has no part in any
  int64_t start_ns = 0;                // by its own clock
  int64_t length_ns = 0;               // own work and parts; what a record left out is not in it
};

struct FleetCounts {
  uint64_t matched = 0;        // meetings of two and more
  uint64_t unmatched = 0;      // parts that should meet others and do not
  uint64_t not_waiting = 0;    // parts of kinds that a rank may leave early, sends and receives
  uint64_t contradicting = 0;  // meetings taken apart, because the ranks' orders contradict
  uint64_t ambiguous_groups = 0;
  uint64_t untold_groups = 0;
  uint64_t outside = 0;       // parts outside all iterations
  uint64_t cut_arrivals = 0;  // collectives that records left out
  uint64_t cut_iterations = 0;
  uint64_t lossy_ranks = 0;  // data lost on import
};

struct FleetJob {
  std::vector<FleetRank> ranks;                           // by number
  std::vector<std::shared_ptr<const std::string>> bytes;  // what the payloads lie in
  int64_t world_size = 0;       // as most records tell, at least the ranks there are
  bool numbered = true;         // false: no record tells its rank; numbers are places by path
  std::vector<int64_t> absent;  // numbers without a record, ascending; at most kAbsentListed
  uint64_t absent_count = 0;
  std::vector<FleetUnused> unused;
  std::vector<int32_t> columns;  // iteration numbers, ascending
  std::vector<FleetGroup> groups;
  std::vector<FleetMeeting> meetings;  // in an order in which `prev` leads back
  std::vector<FleetVisit> visits;
  // Per visit: what it does in its iteration, from 0 (the same number, the same place of the same
  // sequence of collectives), and which column it lies in; kNoColumn outside all.
  std::vector<uint32_t> places;
  std::vector<uint32_t> columns_of_visits;
  uint32_t place_count = 0;
  std::vector<uint64_t> roles;  // per rank: hash of what it does in most iterations
  // Per rank its chain as recorded: begin of the first part, and from there to the end of the last.
  std::vector<FleetChain> chains;
  FleetCounts counts;
};
constexpr size_t kAbsentListed = 64;

// A file of records, by the name it is called on screen.
struct RecordFileBytes {
  std::string name;
  std::shared_ptr<const std::string> bytes;
};

// In whatever order the files and the records in them come, the result is the same. Errors: no
// record that can be read.
Result<FleetJob> assemble_fleet(const std::vector<RecordFileBytes>& files);

}  // namespace assay
