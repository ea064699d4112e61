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
// Effect: docs/measured/job.md.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/packed_times.h"
#include "job/record.h"

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

// What stays of a rank's record. The record itself: UsedRecords.
struct FleetRank {
  int64_t number = 0;
  std::string path;  // of its trace
  std::string host;  // empty = not told
  uint64_t device_count = 0;
  RecordCauses causes;
  std::vector<uint32_t> group_ids;  // into FleetJob::groups, per group of the record
  std::string times;                // its sections of iterations and, until it is matched, arrivals
  uint64_t checksum = 0;            // of its record
};
std::vector<RecordIteration> iterations_of(const FleetRank& rank);

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

// Visits of ranks to meetings, list by list: a job has hundreds of millions of them. The begin of
// one: the end of `prev` and own work after it; of a rank's first ones, whose own work began before
// the recording, FleetJob::starts_ns and how much later than the very first it began.
struct FleetVisits {
  std::vector<uint32_t> rank;
  std::vector<uint32_t> prev;  // a meeting; kNoMeeting: one of the rank's first
  std::vector<uint32_t> slot;  // into FleetJob::slots
  PackedTimes work_ns;

  size_t size() const { return rank.size(); }
};

// What a visit does in its iteration, and which that is.
struct FleetSlot {
  uint32_t place = 0;  // the same number, the same place of the same sequence of collectives
  uint32_t column = kNoColumn;  // kNoColumn: outside all iterations
};

struct FleetMeeting {
  uint32_t group = kAlone;      // also of a part that is not matched, which comes alone
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
  std::vector<FleetRank> ranks;  // by number
  int64_t world_size = 0;        // as most records tell, at least the ranks there are
  int64_t told_world_size = 0;   // as most records tell; 0 where none does
  uint64_t beyond_world = 0;     // ranks whose numbers are not below that
  bool numbered = true;          // false: no record tells its rank; numbers are places by path
  // Numbers without a record, ascending, at most kAbsentListed; none where beyond_world is not 0:
  // which ranks there should be is not known then.
  std::vector<int64_t> absent;
  uint64_t absent_count = 0;
  std::vector<FleetUnused> unused;
  std::vector<int32_t> columns;  // iteration numbers, ascending
  std::vector<FleetGroup> groups;
  std::vector<FleetMeeting> meetings;  // in an order in which `prev` leads back
  FleetVisits visits;
  std::vector<FleetSlot> slots;
  std::vector<uint64_t> roles;  // per rank: hash of what it does in most iterations
  // Per rank its chain as recorded: begin of the first part, and from there to the end of the last.
  std::vector<FleetChain> chains;
  // Per rank when its first part began, by the common clock; empty until the clocks are known
  // (job/clocks.h).
  std::vector<int64_t> starts_ns;
  FleetCounts counts;
};
constexpr size_t kAbsentListed = 64;

// A file of records, by the name it is called on screen.
struct RecordFileBytes {
  std::string name;
  std::string bytes;
};

// A job out of its records, file by file: of each record some hundred bytes and its times stay.
class FleetRecords {
 public:
  FleetRecords();
  FleetRecords(FleetRecords&&) noexcept;
  ~FleetRecords();
  void add(const std::string& name, std::string_view bytes);
  // Once, when all were added. In whatever order they were, the result is the same. Errors: no
  // record that can be read.
  Result<FleetJob> assemble();

 private:
  struct Found;
  std::unique_ptr<Found> found_;
};
Result<FleetJob> assemble_fleet(const std::vector<RecordFileBytes>& files);

// The whole records behind a job's ranks, when the files are read a second time.
struct UsedRecord {
  uint32_t rank = 0;  // into FleetJob::ranks
  FoundRecord found;
};
class UsedRecords {
 public:
  explicit UsedRecords(const FleetJob& job);
  // Of the records among these bytes those of ranks that had none before.
  std::vector<UsedRecord> take(std::string_view bytes);
  size_t left() const { return by_checksum_.size(); }

 private:
  std::multimap<std::pair<uint64_t, std::string_view>, uint32_t> by_checksum_;
};

}  // namespace assay
