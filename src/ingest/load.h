#pragma once

// From what the user typed to Traces: files, folders, globs and "-"; the format told by content.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Files behind the arguments, in order: a folder gives the traces in it (sorted by name), a pattern
// with * ? [ gives its matches, "-" is standard input. Errors name the argument that gave nothing.
// A folder without a trace of its own gives those of the folders below it, up to four deep; of
// TensorBoard's plugins/profile the last run by name. An archive is such a folder
// (ingest/archive.h). Timelines that Assay wrote (docs/formats/perfetto.md) are left out of a folder.
// `notes` say so of each input that is left out; named, it is read.
Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& arguments,
                                               std::vector<std::string>* notes = nullptr);

// Traces in the folder of `file` whose names say that graphs were recorded in them ("capture",
// "captured"); none where there are more than eight, which nobody asked to read.
std::vector<std::string> recordings_beside(const std::string& file);

// Loads one input. Errors carry the file name. Formats that Assay does not read are named, with
// what to do about them.
Result<Trace> load_trace(const std::string& path, const ReadOptions& options);

// Whether the file is a `.assay` (docs/formats/assay.md), by its first bytes.
bool is_columnar(const std::string& path);

// Rank told by a file name: the number after "rank"; -1 when there is none. Other numbers in names
// are dates, sizes and batches. Used only where the trace itself does not say.
int64_t rank_from_name(const std::string& path);

}  // namespace assay
