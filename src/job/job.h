#pragma once

// The records of a job put together: which ranks it has, what is missing, and its process groups.
// Activities and waits of each rank are in its graph (job/job_graph.h).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/record.h"

namespace assay {

// Records that could not be used, each with its reason.
struct FleetUnused {
  std::string what;  // file and offset, or path of the trace
  std::string why;
};

// Retained data of a rank's record. The record itself: UsedRecords.
struct FleetRank {
  int64_t number = 0;
  std::string path;  // of its trace
  std::string host;  // empty = unknown
  uint64_t device_count = 0;
  RecordCauses causes;
  std::vector<uint32_t> group_ids;  // into FleetJob::groups, per group of the record
  std::string times;                // its section of iterations
  uint64_t checksum = 0;            // of its record
};
std::vector<RecordIteration> iterations_of(const FleetRank& rank);

// A process group and kind of collective over all ranks.
struct FleetGroup {
  RecordGroup key;                // members empty if they are incomplete
  std::vector<uint32_t> members;  // places in FleetJob::ranks, ascending
  bool ambiguous = false;  // more ranks have it than it has members
};

struct FleetCounts {
  uint64_t matched = 0;        // collectives and transfers of two ranks and more
  uint64_t unmatched = 0;      // parts that should meet others and do not
  uint64_t contradicting = 0;  // collectives taken apart, because the ranks' orders contradict
  uint64_t ambiguous_groups = 0;
  uint64_t cut_arrivals = 0;  // collectives that records left out
  uint64_t lossy_ranks = 0;   // data lost on import
};

struct FleetJob {
  std::vector<FleetRank> ranks;  // by number
  int64_t world_size = 0;        // as in most records, at least the number of ranks read
  int64_t told_world_size = 0;   // as in most records; 0 if none has it
  uint64_t beyond_world = 0;     // ranks with numbers not below that
  bool numbered = true;          // false: no record tells its rank; numbers are places by path
  // Numbers without a record, ascending, at most kAbsentListed; none where beyond_world is not 0:
  // which ranks there should be is not known then.
  std::vector<int64_t> absent;
  uint64_t absent_count = 0;
  std::vector<FleetUnused> unused;
  std::vector<int32_t> columns;  // iteration numbers, ascending
  std::vector<FleetGroup> groups;
  FleetCounts counts;
};
constexpr size_t kAbsentListed = 64;

// A file of records, by the name it is called on screen.
struct RecordFileBytes {
  std::string name;
  std::string bytes;
};

// A job out of its records, file by file: of each record some hundred bytes and its iterations stay.
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

// The whole records of a job's ranks, when the files are read a second time.
struct UsedRecord {
  uint32_t rank = 0;  // into FleetJob::ranks
  FoundRecord found;
};
class UsedRecords {
 public:
  explicit UsedRecords(const FleetJob& job);
  // The records in these bytes of ranks without an earlier record.
  std::vector<UsedRecord> take(std::string_view bytes);
  size_t left() const { return by_checksum_.size(); }

 private:
  std::multimap<std::pair<uint64_t, std::string_view>, uint32_t> by_checksum_;
};

}  // namespace assay
