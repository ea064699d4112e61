#pragma once

// The traces that a server offers, under ids of its own. Nothing of a request becomes a path.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

struct ServedTrace {
  std::string id;    // what a request names it by
  std::string name;  // from the folder that is served
  std::string path;
  std::string kind = {};  // "Nsight Systems exports", "8 traces together"
  uint64_t bytes = 0;
  int64_t modified_ns = 0;  // since 1970
  bool is_job = false;      // a folder with several traces
};

struct ServedFolder {
  std::string path;
  std::vector<ServedTrace> traces = {};  // by name
  uint64_t other_files = 0;         // no traces
  uint64_t links = 0;               // that lead out of the folder: left out
  bool cut = false;                 // more files than kMostServed: the rest is left out

  const ServedTrace* find(std::string_view id) const;  // null: not here
};

constexpr size_t kMostServed = 20'000;  // files that are looked at

// The traces below `path`, a folder or one trace. Errors: it cannot be read.
Result<ServedFolder> served_folder(const std::string& path);

}  // namespace assay
