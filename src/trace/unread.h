#pragma once

// Rows of a trace that no table took.

#include <string>

#include "trace/trace.h"

namespace assay {

// Of what kind they are, for a sentence that has told how many: "of categories Assay has no table
// for (Op)", "without a category (cuMemAlloc_v2, forward and others)". Empty without any.
std::string unread_rows_words(const Trace& trace);

}  // namespace assay
