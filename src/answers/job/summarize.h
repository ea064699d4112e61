#pragma once

// The map of a job: each trace of a list becomes a rank record (job/record.h), one trace in
// memory at a time. Unreadable files are named, and the others are processed.

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
  std::string out = {};      // folder of records, made where it is missing
  std::optional<Shard> shard = {};  // absent: everything
  bool resume = false;  // files with a stamp among the records of `out` are not read again
};

struct Summarized {
  uint64_t files = 0;    // of this shard
  uint64_t kept = 0;     // had a record already
  uint64_t written = 0;  // records
  uint64_t bytes = 0;    // of these
  uint64_t largest = 0;  // the longest of them
  std::string largest_file = {};
  std::string records = {};              // file they are in; empty where none was written
  std::vector<FleetUnused> unread = {};  // in the order they were tried
  bool data_lost = false;                // on import of some
};

// A line of words per file that could not be read, the first of many and how many more.
std::vector<std::string> unread_words(const std::vector<FleetUnused>& unread);

// The files of rank records in a folder, sorted.
Result<std::vector<std::string>> record_files_in(const std::string& folder);

// The files of the inputs with their stored sizes, in their order.
Result<std::vector<PlannedFile>> planned_files(const TraceRequest& request);

// Of these, the ones without a valid record in request.out; all if the request does not resume.
// kept: number with a valid record.
Result<std::vector<PlannedFile>> files_to_read(std::vector<PlannedFile> files,
                                               const SummarizeRequest& request, uint64_t& kept);

// Records of these files, in their order; a trace that changes meanwhile has none. Errors: a folder
// that cannot be written to, a disk that is full. A record is in its file whole or not at all.
Result<Summarized> summarize_files(const std::vector<PlannedFile>& files,
                                   const SummarizeRequest& request);

// All of that for the requested shard. Errors: no file, and as above.
Result<Summarized> summarize_traces(const SummarizeRequest& request);

}  // namespace assay
