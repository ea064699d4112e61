#pragma once

// Several processes in one Chrome trace, as serving engines merge the ranks of a server. Each counts
// its calls and operators from 1, and an id alone joins rows of different ranks. Such a file is read
// as the files that it was made of.

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
  std::string name;  // its label, its rank or its process id
};
struct SplitFile {
  std::vector<ProcessPart> parts;  // by rank where ranks are known, else as in the file
  uint64_t left_out = 0;           // durations of other processes
};

// Writes the processes of the file at `path` into `folder`, one file each, and reads it twice. The
// process of a device row is the one that labels of pids name. Else it is the one around the row in
// the file, or the one with calls before the rows of the device. Errors: kUnsupported where several
// processes fit a device, and those of files. A file that ends early gives parts that end early.
Result<SplitFile> split_processes(const std::string& path, const std::string& folder);

}  // namespace assay
