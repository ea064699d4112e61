#pragma once

// The reader of Nsight Systems SQLite exports (nsys export --type sqlite), every schema of version
// 3 (docs/formats/nsys.md). Memory is the rows; the file is passed over table by table.

#include <string>

#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Errors: kUnsupported (a SQLite file of another tool, which is named; or too many rows), and those
// of SqliteFile. The environment in these files is never read.
Result<Trace> read_nsys_sqlite(const std::string& path, const ReadOptions& options);

}  // namespace assay
