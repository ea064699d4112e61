#pragma once

// Files for the parts of another file: processes of a merged trace, members of an archive. They lie
// in a temporary folder until the process ends, and every text names them by the file that the user
// gave. A container is taken apart once, and again only where it has changed.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay {

// Traces of the processes in the merged trace at `path`. left_out counts durations of no process.
// Errors: chrome/processes.h.
struct StandIns {
  std::vector<std::string> files;
  uint64_t left_out = 0;
};
Result<StandIns> processes_apart(const std::string& path);

// The folder that holds the members of the archive at `path`. Errors: archive.h.
Result<std::string> archive_folder(const std::string& path);

// The name of a path on screen: the path itself, but for stand-ins.
std::string shown_path(const std::string& path);
// The file that the user gave, of a stand-in; else the path itself.
std::string container_path(const std::string& path);

}  // namespace assay
