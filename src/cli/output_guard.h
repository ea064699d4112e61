#pragma once

// One rule for every verb, kept before any of them runs: what a command writes is not one of the
// files that it reads, whatever option names it.

#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "report/document/document.h"

namespace assay {

// Fails when a file named for writing (-o, --junit, --perfetto, --save-prediction, --export-kernel-db) is an
// existing file that another argument of the same command leads to: by its name or behind NAME=, as
// one of the files of a folder or pattern, or as standard input. Fails also when two outputs name
// one file. Verbs that run a command of the user's are left out: what its arguments mean is not
// known.
Status refuse_outputs_over_inputs(const std::vector<GivenOption>& given);

bool tells_checksum(const Input& input);

struct DocumentInputs {
  std::vector<Input> inputs;
  std::vector<Input> files;  // as in Document
};
// Adds size and checksum of the files that the command reads: to the inputs that do not tell theirs
// yet, and those that are no inputs to `files`, each with the option that names it. Of a folder the
// files in it, where none of them is one of the inputs. What cannot be read any
// more is said on stderr.
void tell_files(const std::vector<GivenOption>& given, DocumentInputs& read);

}  // namespace assay
