#pragma once

// The traces that a server offers, under generated ids. No part of a request is used as a path.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

struct ServedTrace {
  std::string id;    // id in requests
  std::string name;  // relative to the served folder
  std::string path;
  std::string kind = {};  // "Nsight Systems exports", "8 traces together"
  uint64_t bytes = 0;
  int64_t modified_ns = 0;  // since 1970
  bool is_job = false;      // a folder with several traces
};

struct ServedFolder {
  std::string path;
  std::vector<ServedTrace> traces = {};  // by name
  uint64_t other_files = 0;         // files that are not traces
  uint64_t links = 0;               // skipped links that lead out of the folder
  bool cut = false;                 // there are more files than kMostServed; the rest is skipped

  const ServedTrace* find(std::string_view id) const;  // null: unknown id
};

constexpr size_t kMostServed = 20'000;  // maximum number of examined files

// The traces under `path`, which is a folder or one trace. Errors: the path cannot be read.
Result<ServedFolder> served_folder(const std::string& path);

}  // namespace assay
