#pragma once

// Names of the rows that idle time comes from.

#include <string>

#include "flow/causes.h"
#include "trace/trace.h"

namespace assay {

// The name of a contributor, of a kernel as described by its template; empty where no row names it.
std::string contributor_name(const Trace& trace, const Contributor& contributor);
// The data loader around a stretch of time, as an operator, label or frame names it; empty where
// there is none.
std::string loader_around(const Trace& trace, Interval span);

}  // namespace assay
