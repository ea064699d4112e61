#pragma once

// Loads the inputs that the user typed: files, folders, globs and "-". The format is detected by
// content.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Expands arguments to files, in order. A folder expands to its traces, sorted by name; a pattern
// with * ? [ to its matches; "-" is standard input. A folder without traces expands to those of its
// subfolders, up to four levels down; in TensorBoard's plugins/profile, only of the last run by
// name. An archive counts as a folder (ingest/archive.h). Timelines that Assay wrote
// (docs/formats/perfetto.md) are skipped in a folder, with a line in `notes`, and read if named.
// Errors name the argument without traces.
Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& arguments,
                                               std::vector<std::string>* notes = nullptr);

// Traces in the folder of `file` with names that mention a capture ("capture", "captured"), which
// may record the capture of its graphs; sorted, without `file`. Empty if there are more than eight:
// the user must ask for so many.
std::vector<std::string> recordings_beside(const std::string& file);

// Loads one input. Errors name the file, and for unsupported formats the format and a suggestion.
Result<Trace> load_trace(const std::string& path, const ReadOptions& options);

// True if the file's first bytes are those of a `.assay` (docs/formats/assay.md).
bool is_columnar(const std::string& path);

// The rank in a file name, which is the number after "rank"; -1 if there is none. Other numbers in
// names are dates, sizes and batches. Used only if the trace has no rank.
int64_t rank_from_name(const std::string& path);

}  // namespace assay
