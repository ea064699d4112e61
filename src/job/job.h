#pragma once

// A job assembled from its rank records: ranks, missing ranks and process groups. Activities and
// waits of each rank are in the job's graph (job/job_graph.h).

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

// A record that could not be used, with the reason.
struct FleetUnused {
  std::string what;  // file and offset, or path of the trace
  std::string why;
};

// Data kept in memory from a rank's record. UsedRecords finds the record itself again.
struct FleetRank {
  int64_t number = 0;
  std::string path;  // of its trace
  std::string host;  // empty = unknown
  uint64_t device_count = 0;
  RecordCauses causes;
  std::vector<uint32_t> group_ids;  // into FleetJob::groups, per group of the record
  std::string times;                // its section of iterations, as record_times gives it
  uint64_t checksum = 0;            // of its record
};
// Decodes FleetRank::times.
std::vector<RecordIteration> iterations_of(const FleetRank& rank);

// A process group and kind of collective over all ranks.
struct FleetGroup {
  RecordGroup key;                // members empty if they are incomplete
  std::vector<uint32_t> members;  // indices into FleetJob::ranks, ascending
  bool ambiguous = false;         // more ranks have it than it has members
};

struct FleetCounts {
  uint64_t matched = 0;        // collectives and transfers matched over two or more ranks
  uint64_t unmatched = 0;      // parts of ranks in collectives without a match
  uint64_t contradicting = 0;  // collectives not joined because the ranks' orders contradict
  uint64_t ambiguous_groups = 0;
  uint64_t cut_arrivals = 0;  // collectives that did not fit into the records
  uint64_t lossy_ranks = 0;   // ranks with data lost on import
};

struct FleetJob {
  std::vector<FleetRank> ranks;  // by number
  int64_t world_size = 0;        // told_world_size, at least the number of ranks read
  int64_t told_world_size = 0;   // most frequent value in the records; 0 if none has it
  uint64_t beyond_world = 0;     // ranks with numbers of told_world_size or more
  bool numbered = true;          // false: no record has a rank number; ranks are numbered by path
  // Rank numbers without a record, ascending, at most kAbsentListed. Empty if beyond_world is not
  // 0, because the expected numbers are then unknown.
  std::vector<int64_t> absent;
  uint64_t absent_count = 0;
  std::vector<FleetUnused> unused;
  std::vector<int32_t> columns;  // iteration numbers, ascending
  std::vector<FleetGroup> groups;
  FleetCounts counts;
};
constexpr size_t kAbsentListed = 64;

// Content of a file of records and its displayed name.
struct RecordFileBytes {
  std::string name;
  std::string bytes;
};

// Assembles a job from its records, file by file. Keeps a few hundred bytes and the iterations of
// each record.
class FleetRecords {
 public:
  FleetRecords();
  FleetRecords(FleetRecords&&) noexcept;
  ~FleetRecords();
  void add(const std::string& name, std::string_view bytes);
  // Call once, after the last add(). The result does not depend on the order of the files. Fails if
  // no record can be read.
  Result<FleetJob> assemble();

 private:
  struct Found;
  std::unique_ptr<Found> found_;
};
Result<FleetJob> assemble_fleet(const std::vector<RecordFileBytes>& files);

// Finds the complete records of a job's ranks when the files are read a second time.
struct UsedRecord {
  uint32_t rank = 0;  // into FleetJob::ranks
  FoundRecord found;
};
class UsedRecords {
 public:
  explicit UsedRecords(const FleetJob& job);
  // The records in these bytes that belong to ranks not yet found. Views into `bytes`.
  std::vector<UsedRecord> take(std::string_view bytes);
  size_t left() const { return by_checksum_.size(); }

 private:
  std::multimap<std::pair<uint64_t, std::string_view>, uint32_t> by_checksum_;
};

}  // namespace assay
