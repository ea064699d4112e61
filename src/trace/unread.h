#pragma once

// Rows of a trace that no table has columns for.

#include <string>

#include "trace/trace.h"

namespace assay {

// Phrase for the kind of these rows, to follow their number: "of categories Assay has no table for
// (Op)", "without a category (cuMemAlloc_v2, forward and others)". Empty if there are none.
std::string unread_rows_words(const Trace& trace);

}  // namespace assay
