#pragma once

// Several processes in one Chrome trace: serving engines merge the ranks of a server into one file.
// Each process numbers its calls and operators from 1, so an id alone would join rows of different
// ranks. Such a file is split into one file per process.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/builder.h"

namespace assay {

// Number of processes with calls that device rows of this file refer to.
size_t launching_processes(const TraceBuilder& builder);

// One process of a merged file, as a trace file.
struct ProcessPart {
  std::string path;
  std::string name;  // label, rank or process id
};
struct SplitFile {
  std::vector<ProcessPart> parts;  // by rank if known, else in file order
  uint64_t left_out = 0;           // number of complete events of other processes
};

// Writes the processes of the file at `path` into `folder`, one file each; reads the input twice. A
// device row belongs to the process that its pid's label names, else to the one with rows around it
// in the file, else to the one with calls before the rows of the device. Errors: kUnsupported if
// several processes fit a device, and those of files. A truncated input gives truncated files.
Result<SplitFile> split_processes(const std::string& path, const std::string& folder);

}  // namespace assay
