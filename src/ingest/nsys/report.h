#pragma once

// Raw reports of Nsight Systems (.nsys-rep, .qdrep). Only nsys reads them. Assay lets it export
// a report once and keeps the export.

#include <string>

#include "base/result.h"
#include "base/temporaries.h"

namespace assay {

struct ExportedReport {
  std::string path;  // the SQLite file
  Temporary folder;  // that it lies in, where there is no cache folder
};

// The export of a report, from the cache folder or by nsys if there is none of this state. Prints
// one line on standard error before it runs nsys. Errors are kUnsupported (no nsys on PATH or where
// NVIDIA's packages install it), kFormat (nsys failed, with its last line) and kIo.
Result<ExportedReport> export_report(const std::string& report);

}  // namespace assay
