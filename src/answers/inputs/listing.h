#pragma once

// Lists the files in a folder tree that Assay reads, and the folders that hold the ranks of one
// job. Reads only the beginning of each file.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/document/document.h"

namespace assay {

// At most this many files are examined; the document counts the rest.
constexpr size_t kMostListed = 5000;

// Name of the first named device, rank and world size from the head of a Kineto file. Empty or -1:
// not found in `bytes`, which may end anywhere.
struct TraceHead {
  std::string device = {};
  int64_t rank = -1;
  int64_t world_size = -1;
};
TraceHead trace_head(std::string_view bytes);

// Tables `files` and `jobs`, sorted by name. A job is a folder with traces of at least two ranks.
// Unsupported files are counted. Links that lead out of a folder are not followed. An argument may
// be a single file. Errors: a folder that does not exist or cannot be opened.
Result<Document> list_folders(const std::vector<std::string>& folders);

}  // namespace assay
