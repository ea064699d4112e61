#pragma once

// The files below a folder that Assay reads, and the folders that hold the ranks of one job. Only
// the beginning of each file is read.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/document/document.h"

namespace assay {

// At most so many files are looked at; the document says how many more there are.
constexpr size_t kMostListed = 5000;

// The name of the first device with one, and the rank, as the head of a Kineto file says them.
// Empty, -1: not in these bytes, which may end anywhere.
struct TraceHead {
  std::string device = {};
  int64_t rank = -1;
  int64_t world_size = -1;
};
TraceHead trace_head(std::string_view bytes);

// Tables `files` and `jobs`. A job is a folder with traces of at least two different ranks. Names
// are sorted. Files that Assay does not read are counted. Links that lead out of a folder are not
// followed. A file is listed alone. Errors: a folder that does not exist or cannot be opened.
Result<Document> list_folders(const std::vector<std::string>& folders);

}  // namespace assay
