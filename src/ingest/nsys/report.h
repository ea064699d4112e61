#pragma once

// Exports raw reports of Nsight Systems (.nsys-rep, .qdrep) and Nsight Compute (.ncu-rep), which
// only nsys and ncu can read. A report of Nsight Systems is exported once and the export is cached.

#include <string>

#include "base/result.h"
#include "base/temporaries.h"

namespace assay {

struct ExportedReport {
  std::string path;  // the SQLite file, or the table of counters
  Temporary folder;  // temporary folder of `path` if there is no cache folder
};

// The export of a report: from the cache if it is of this state of the file, else by nsys. Prints
// one line to standard error before running nsys. Errors: kUnsupported (no nsys on PATH or where
// NVIDIA's packages install it), kFormat (nsys failed, with its last line) and kIo.
Result<ExportedReport> export_report(const std::string& report);

// The table of a report of Nsight Compute (ncu --csv --page raw) in a temporary folder. Errors as
// above, with the file's name.
Result<ExportedReport> export_counters(const std::string& report);

// Path of NVIDIA's tool: on PATH, else the newest one that its packages installed in `place`.
std::string find_nsight(const std::string& name, const std::string& place);

}  // namespace assay
