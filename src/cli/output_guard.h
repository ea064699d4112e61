#pragma once

// One rule for every verb, kept before any of them runs: what a command writes is not one of the
// files that it reads, whatever option names it.

#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "report/document/document.h"

namespace assay {

// Fails if an output file (-o, --junit, --perfetto, --save-prediction, --export-kernel-db) exists
// and is also an input of the same command. Inputs are arguments by name or after NAME=, files of a
// folder or pattern, and standard input. Fails also if two outputs name one file. Excludes verbs
// that run a command of the user, because its arguments have an unknown meaning.
Status refuse_outputs_over_inputs(const std::vector<GivenOption>& given);

bool tells_checksum(const Input& input);

struct DocumentInputs {
  std::vector<Input> inputs;
  std::vector<Input> files;  // as in Document
};
// Adds size and checksum of the files that the command reads. Inputs without them get theirs; other
// files are added to `files` with the option that names each. A folder adds its files if none of
// them is an input. Files that cannot be read any more are reported on stderr.
void tell_files(const std::vector<GivenOption>& given, DocumentInputs& read);

}  // namespace assay
