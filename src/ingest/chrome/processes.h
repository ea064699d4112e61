#pragma once

// Several processes in one Chrome trace, as serving engines merge the ranks of a server. Each counts
// its calls and operators from 1, so that an id alone joins rows of different ranks: such a file is
// read as the files that it was made of.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/builder.h"

namespace assay {

// How many processes made calls that device rows of this file name by their ids.
size_t launching_processes(const TraceBuilder& builder);

// A process of a merged file, as a trace of its own.
struct ProcessPart {
  std::string path;
  std::string name;  // behind the file's name: its label, its rank or its process id
};
struct SplitFile {
  std::vector<ProcessPart> parts;  // by rank where ranks are told, else by process id
  uint64_t left_out = 0;           // durations whose process is none of these
};

// Writes the processes of the file at `path` into `folder`, one file each; reads it twice. Device
// rows belong to the process that labels of pids name, else to the one whose rows stand around them
// in the file, else to the one whose calls come before them. Errors: kUnsupported where nothing
// tells whose the work of a device is; what reading and writing give. A file that ends early gives
// parts that end early.
Result<SplitFile> split_processes(const std::string& path, const std::string& folder);

}  // namespace assay
