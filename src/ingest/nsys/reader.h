#pragma once

// Reads Nsight Systems SQLite exports (nsys export --type sqlite) of every schema of version 3
// (docs/formats/nsys.md). Memory use is that of the rows; the file is read table by table.

#include <string>

#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Errors: kUnsupported (a SQLite file of another tool, which the message names, or too many rows),
// and those of SqliteFile. Never reads the environment variables in these files.
Result<Trace> read_nsys_sqlite(const std::string& path, const ReadOptions& options);

}  // namespace assay
