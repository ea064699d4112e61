#pragma once

// Chrome traces of which every row stays unread: timelines of frameworks and of tools of one's own.

#include "base/result.h"
#include "trace/trace.h"

namespace assay {

// Fails for a trace with events but none in any table. The message names the tool of the timeline,
// if its rows show it, and suggests another recording. Ok for every other trace, and for rows with
// categories of their own, which other verbs select by name.
Status check_form(const Trace& trace);

}  // namespace assay
