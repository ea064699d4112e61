#pragma once

// A rank record: a summary of one rank's trace, at most 256 KiB, for jobs with traces too large for
// one machine. Format: docs/formats/ranks.md. A file is a sequence of records, so files can be
// concatenated.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "flow/cause.h"
#include "flow/rank_fold.h"

namespace assay {

constexpr size_t kMostRecordBytes = size_t{256} << 10;
constexpr uint16_t kRecordMajor = 2;  // readers reject any other major version
constexpr uint16_t kRecordMinor = 0;
constexpr int32_t kNoRecordIteration = -1;
// Longest time in a record, in ns (39 hours). A longer one is damage; the limit keeps sums from
// overflowing.
constexpr int64_t kLongestInRecord = (int64_t{1} << 47) - 1;

// Identity of a record's trace: a trace with an existing stamp need not be read again.
struct RecordStamp {
  std::string path;
  uint64_t bytes = 0;  // as stored
  int64_t mtime_ns = 0;
  std::string made_by;  // version and options that affect the content of a record
  friend std::strong_ordering operator<=>(const RecordStamp&, const RecordStamp&) = default;
};

// An irregularity counted by the import or an analysis.
struct RecordNote {
  std::string what;
  uint64_t count = 0;
};

// A process group and kind of collective that the rank took part in.
struct RecordGroup {
  std::string name;     // as recorded; may be empty
  std::string members;  // as recorded, at most kMembersKept bytes
  std::string kind;     // all_reduce, ...
  int64_t size = -1;    // number of ranks; -1 = unknown
  bool waits = true;    // no rank leaves before all have arrived
  friend std::strong_ordering operator<=>(const RecordGroup&, const RecordGroup&) = default;
};
constexpr size_t kMembersKept = 512;

// One iteration on the rank's devices. The times do not sum to the span; the rest is idle time for
// other reasons.
struct RecordIteration {
  int32_t number = kNoRecordIteration;
  int64_t start_ns = 0;
  int64_t span_ns = 0;
  int64_t kernel_ns = 0;  // union of compute kernels
  int64_t launch_ns = 0;
  int64_t comm_wait_ns = 0;
  int64_t copy_ns = 0;
  int64_t exposed_comm_ns = 0;
  int64_t tokens = -1;  // -1 = unknown
  uint64_t collectives = 0;
};

// The rank's part in one collective, on its own clock.
struct RecordArrival {
  int32_t iteration = kNoRecordIteration;
  uint32_t group = 0;  // into RankRecord::groups
  int64_t seq = -1;    // sequence number in the process group; -1 = unknown
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  // start_ns minus the latest end of an earlier collective of the rank; -1 = none. Stored because
  // the earlier collective may be missing from the record.
  int64_t work_ns = -1;
};

// An operation of the breakdown.
struct RecordOperation {
  std::string name;
  uint64_t kernels = 0;
  int64_t kernel_ns = 0;
  int64_t launch_ns = 0;
  int64_t comm_wait_ns = 0;
  int64_t copy_ns = 0;
  Histogram durations;
};

struct RecordKernel {
  std::string name;   // at most kNameKept bytes
  uint64_t hash = 0;  // of the whole name
  uint64_t count = 0;
  int64_t dur_ns = 0;
  Histogram durations;
};
constexpr size_t kNameKept = 120;

// Device time of the rank by cause, from the dependency graph.
struct RecordCauses {
  int64_t window_ns = 0;  // compute + collective + copy + all of idle
  int64_t compute_ns = 0;
  int64_t collective_ns = 0;
  int64_t copy_ns = 0;
  CauseTimes idle_ns{};
};

// Entries that did not fit.
struct RecordCuts {
  uint64_t notes = 0;
  uint64_t groups = 0;
  uint64_t iterations = 0;
  uint64_t arrivals = 0;            // collectives, cut by whole iterations
  uint64_t arrival_iterations = 0;  // those iterations
  uint64_t operations = 0;
  uint64_t kernels = 0;
};

struct RankRecord {
  RecordStamp stamp;
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string host;  // empty = unknown
  std::vector<std::string> devices;
  uint64_t device_count = 0;  // of the machine; 0 = unknown
  std::string window_source;
  bool data_lost = false;
  std::vector<RecordNote> notes;
  std::vector<RecordGroup> groups;
  std::vector<RecordIteration> iterations;  // by number
  std::vector<RecordArrival> arrivals;      // by iteration in time order, then start
  std::vector<RecordOperation> operations;  // heaviest first
  std::vector<RecordKernel> kernels;        // heaviest first
  RecordCauses causes;
  RankFold fold;  // dependencies; no points = not recorded
  RecordCuts cuts;
};

// Serializes a record, at most kMostRecordBytes. Entries above a section's cap are left out and
// counted in the written cuts. Arrivals are cut by whole iterations, in the same order on every
// rank, so that ranks keep the same ones.
std::string record_bytes(const RankRecord& record);

// Bytes that are not a record. The scan continues at the next record.
struct RecordDamage {
  uint64_t offset = 0;  // in the file
  std::string why;
};
// A record with a valid checksum among other bytes.
struct FoundRecord {
  uint64_t offset = 0;
  uint64_t checksum = 0;
  RecordStamp stamp = {};
  std::string_view payload = {};
};
struct RecordScan {
  std::vector<FoundRecord> records;  // in the order of the bytes
  std::vector<RecordDamage> damage;
};
// Finds all records in `bytes`. Payloads are views into `bytes`.
RecordScan scan_records(std::string_view bytes);
// Fails if the payload cannot be parsed although its checksum is valid.
Result<RankRecord> read_record(const FoundRecord& found);
// The same without iterations, arrivals, operations, kernels and fold, for readers of many records.
// cuts.arrivals and cuts.arrival_iterations are filled.
Result<RankRecord> read_record_head(const FoundRecord& found);
// The iterations section of a payload that read_record_head accepted, as a payload for
// read_record_iterations.
std::string record_times(std::string_view payload);
std::vector<RecordIteration> read_record_iterations(std::string_view payload);
// Reads only the kernels of a payload that read_record_head accepted.
std::vector<RecordKernel> read_record_kernels(std::string_view payload);
// Reads only the fold of such a payload. No points if the record has no graph.
RankFold read_record_fold(std::string_view payload);

}  // namespace assay
