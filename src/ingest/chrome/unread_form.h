#pragma once

// Chrome traces of which every row stays unread: timelines of frameworks and of tools of one's own.

#include "base/result.h"
#include "trace/trace.h"

namespace assay {

// An error for a trace with events of which no table took any: whose timeline it is, where its rows
// tell, and what to record instead. Ok for every other, and for rows of categories of their own,
// which other verbs ask for by name.
Status check_form(const Trace& trace);

}  // namespace assay
