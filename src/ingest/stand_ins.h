#pragma once

// Temporary files for the parts of a container: processes of a merged trace, members of an archive.
// They exist until this process ends; messages name them by the file that the user gave. A
// container is unpacked once, and again only if it has changed.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay {

// Splits the merged trace at `path` into one trace file per process. left_out counts complete
// events of no such process. Errors: chrome/processes.h.
struct StandIns {
  std::vector<std::string> files;
  uint64_t left_out = 0;
};
Result<StandIns> processes_apart(const std::string& path);

// Unpacks the archive at `path` into a folder and returns the folder. Errors: archive.h.
Result<std::string> archive_folder(const std::string& path);

// The path to display: for stand-ins one derived from the user's file, else the path itself.
std::string shown_path(const std::string& path);
// The user's file for a stand-in, else the path itself.
std::string container_path(const std::string& path);

}  // namespace assay
