#pragma once

// Map step of a job: turns each trace of a list into a rank record (job/record.h), one trace in
// memory at a time. Unreadable files are reported and the others processed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "job/job.h"
#include "job/plan.h"

namespace assay {

struct SummarizeRequest {
  TraceRequest traces = {};  // inputs: as everywhere, and "@LIST", a file of "size<TAB>path" lines
  std::string out = {};      // folder of records, created if missing
  std::optional<Shard> shard = {};  // absent: all files
  bool resume = false;  // skip files that already have a stamp among the records of `out`
};

struct Summarized {
  uint64_t files = 0;    // in this shard
  uint64_t kept = 0;     // already had a record
  uint64_t written = 0;  // records
  uint64_t bytes = 0;    // size of the written records
  uint64_t largest = 0;  // size of the largest record
  std::string largest_file = {};
  std::string records = {};              // file of the records; empty if none was written
  std::vector<FleetUnused> unread = {};  // in processing order
  bool data_lost = false;                // some input was not imported completely
};

// One line per unreadable file for the first ones, then the number of others.
std::vector<std::string> unread_words(const std::vector<FleetUnused>& unread);

// The files of rank records in a folder, sorted.
Result<std::vector<std::string>> record_files_in(const std::string& folder);

// The files of the inputs with their sizes, in input order.
Result<std::vector<PlannedFile>> planned_files(const TraceRequest& request);

// The files without a valid record in request.out, or all files if request.resume is false. kept:
// number of files with a valid record.
Result<std::vector<PlannedFile>> files_to_read(std::vector<PlannedFile> files,
                                               const SummarizeRequest& request, uint64_t& kept);

// Writes one record per file, in order; a trace that changes while it is read gets none. Each
// record is written completely or not at all. Errors: a folder that cannot be written, a full disk.
Result<Summarized> summarize_files(const std::vector<PlannedFile>& files,
                                   const SummarizeRequest& request);

// Plans, filters and summarizes the files of the requested shard. Errors: no file, and as above.
Result<Summarized> summarize_traces(const SummarizeRequest& request);

}  // namespace assay
