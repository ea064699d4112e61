#pragma once

// For every verb, checked before it runs: no output file may be one of the command's input files,
// whatever options name them.

#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "report/document/document.h"

namespace assay {

// Fails if an output file (-o, --junit, --perfetto, --save-prediction, --export-kernel-db) exists
// and is also an input of the command: an argument by name or after NAME=, a file in a folder or
// matched by a pattern, or standard input. Also fails if two outputs are the same file. Excludes
// verbs that run a user's command, because the meaning of its arguments is unknown.
Status refuse_outputs_over_inputs(const std::vector<GivenOption>& given);

bool tells_checksum(const Input& input);

struct DocumentInputs {
  std::vector<Input> inputs;
  std::vector<Input> files;  // as in Document
};
// Adds size and checksum of the files that the command reads. Inputs without them get theirs; other
// files are added to `files` with the option that names each. A folder adds its files if none of
// them is an input. Files that cannot be read are reported on stderr.
void tell_files(const std::vector<GivenOption>& given, DocumentInputs& read);

}  // namespace assay
