#pragma once

// The run without its recorder in the diagnosis of a recording.

#include "findings/diagnosis.h"
#include "flow/untraced.h"

namespace assay::findings {

// Adds a caveat if by an estimate the run without its recorder may have another bottleneck.
void add_untraced(const Untraced& untraced, Diagnosis& diagnosis);

// "GPU-bound", "host-bound", ... within a sentence.
std::string_view bottleneck_word(BoundBy bound);

}  // namespace assay::findings
