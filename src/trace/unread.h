#pragma once

// Rows of a trace that no table took.

#include <string>

#include "trace/trace.h"

namespace assay {

// Kind of these rows, to complete a sentence with their number: "of categories Assay has no table
// for (Op)", "without a category (cuMemAlloc_v2, forward and others)". Empty if there are none.
std::string unread_rows_words(const Trace& trace);

}  // namespace assay
