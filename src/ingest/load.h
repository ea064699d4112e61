#pragma once

// From typed inputs to Traces: files, folders, globs and "-". The format is detected by content.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Files of the arguments, in order. A folder gives its traces, sorted by name; a pattern with * ? [
// gives its matches; "-" is standard input. Errors name the argument without traces. A folder
// without a trace of its own gives those of the folders below it, up to four levels. For
// TensorBoard's plugins/profile that is the last run by name. An archive is such a folder
// (ingest/archive.h). Timelines that Assay wrote (docs/formats/perfetto.md) are skipped in a
// folder, with a line in `notes`, and read if named.
Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& arguments,
                                               std::vector<std::string>* notes = nullptr);

// Traces in the folder of `file` with graph captures by their names ("capture", "captured"). None
// if there are more than eight, because reading so many must be requested.
std::vector<std::string> recordings_beside(const std::string& file);

// Loads one input. Errors carry the file name. Formats that Assay does not read are named, with
// what to do about them.
Result<Trace> load_trace(const std::string& path, const ReadOptions& options);

// True if the file is a `.assay` (docs/formats/assay.md), by its first bytes.
bool is_columnar(const std::string& path);

// Rank in a file name: the number after "rank"; -1 if there is none. Other numbers in names are
// dates, sizes and batches. Used only if the trace has no rank.
int64_t rank_from_name(const std::string& path);

}  // namespace assay
