#pragma once

// Exports raw reports of Nsight Systems (.nsys-rep, .qdrep), which only nsys can read. Each report
// is exported once and the export is cached.

#include <string>

#include "base/result.h"
#include "base/temporaries.h"

namespace assay {

struct ExportedReport {
  std::string path;  // the SQLite file
  Temporary folder;  // temporary folder of `path` if there is no cache folder
};

// The export of a report: from the cache if it is of this state of the file, else by nsys. Prints
// one line to standard error before running nsys. Errors: kUnsupported (no nsys on PATH or where
// NVIDIA's packages install it), kFormat (nsys failed, with its last line) and kIo.
Result<ExportedReport> export_report(const std::string& report);

}  // namespace assay
