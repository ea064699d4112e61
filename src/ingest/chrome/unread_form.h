#pragma once

// Detects Chrome traces with only rows of unknown form: timelines of frameworks and custom tools.

#include "base/result.h"
#include "trace/trace.h"

namespace assay {

// Fails if a trace has events but no row in any table. The message names the tool that wrote the
// timeline, if its rows show it, and suggests another recording. Succeeds for other traces, and for
// rows with categories of their own, which other verbs select by name.
Status check_form(const Trace& trace);

}  // namespace assay
