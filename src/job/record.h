#pragma once

// A rank record: a summary of one rank's trace, at most 256 KiB, for jobs with traces too large for
// one machine. As bytes: docs/formats/ranks.md. A file is a sequence of records, and concatenated
// files are again such a file.

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
constexpr uint16_t kRecordMajor = 2;  // a reader refuses others by name
constexpr uint16_t kRecordMinor = 0;
constexpr int32_t kNoRecordIteration = -1;
// No trace is that long: what says so is damage, and sums of it must not overflow.
constexpr int64_t kLongestInRecord = (int64_t{1} << 47) - 1;

// Identity of a record's trace: a trace with an existing stamp need not be read again.
struct RecordStamp {
  std::string path;
  uint64_t bytes = 0;  // as stored
  int64_t mtime_ns = 0;
  std::string made_by;  // version and options that change what a record says
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
  int64_t size = -1;    // ranks in it; -1 = not told
  bool waits = true;    // no rank leaves before all have arrived
  friend std::strong_ordering operator<=>(const RecordGroup&, const RecordGroup&) = default;
};
constexpr size_t kMembersKept = 512;

// One iteration on the rank's devices. These do not cover all time between kernels: the rest of the
// span is idle time for other reasons.
struct RecordIteration {
  int32_t number = kNoRecordIteration;
  int64_t start_ns = 0;
  int64_t span_ns = 0;
  int64_t kernel_ns = 0;  // compute kernels, what runs at once counted once
  int64_t launch_ns = 0;
  int64_t comm_wait_ns = 0;
  int64_t copy_ns = 0;
  int64_t exposed_comm_ns = 0;
  int64_t tokens = -1;  // -1 = not told
  uint64_t collectives = 0;
};

// The rank's part in one collective, by its own clock.
struct RecordArrival {
  int32_t iteration = kNoRecordIteration;
  uint32_t group = 0;  // into RankRecord::groups
  int64_t seq = -1;    // number in the process group; -1 = not told
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  // start less the latest end of an earlier collective of the rank; -1 = there is none. Kept in
  // addition to the times, because the earlier one may be missing.
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
  uint64_t arrivals = 0;            // collectives, of whole iterations
  uint64_t arrival_iterations = 0;  // these
  uint64_t operations = 0;
  uint64_t kernels = 0;
};

struct RankRecord {
  RecordStamp stamp;
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string host;  // empty = not told
  std::vector<std::string> devices;
  uint64_t device_count = 0;  // of the machine; 0 = not told
  std::string window_source;
  bool data_lost = false;
  std::vector<RecordNote> notes;
  std::vector<RecordGroup> groups;
  std::vector<RecordIteration> iterations;  // by number
  std::vector<RecordArrival> arrivals;      // by iteration as in time, then start
  std::vector<RecordOperation> operations;  // heaviest first
  std::vector<RecordKernel> kernels;        // heaviest first
  RecordCauses causes;
  RankFold fold;  // dependencies; no points: not recorded
  RecordCuts cuts;
};

// The bytes of a record, at most kMostRecordBytes. Entries above a section's cap are left out and
// counted in `cuts`; arrivals by whole iterations, in the same order on every rank.
std::string record_bytes(const RankRecord& record);

// Bytes other than a record: skipped to the next one.
struct RecordDamage {
  uint64_t offset = 0;  // in the file
  std::string why;
};
// A record among other bytes, its checksum checked.
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
// Views into `bytes`.
RecordScan scan_records(std::string_view bytes);
// Errors: a payload that is none, although its checksum fits.
Result<RankRecord> read_record(const FoundRecord& found);
// The same without iterations, arrivals, operations, kernels and fold, but with what was cut of arrivals:
// for readers of many.
Result<RankRecord> read_record_head(const FoundRecord& found);
// The section of iterations of a payload from read_record_head, again as a payload, for the
// function below.
std::string record_times(std::string_view payload);
std::vector<RecordIteration> read_record_iterations(std::string_view payload);
// Likewise the kernels alone.
std::vector<RecordKernel> read_record_kernels(std::string_view payload);
// The dependences likewise. They have no points if the record has no graph.
RankFold read_record_fold(std::string_view payload);

}  // namespace assay
