#pragma once

// Names of the events that cause idle time.

#include <string>

#include "flow/causes.h"
#include "trace/trace.h"

namespace assay {

// The contributor's name; a kernel's is shortened by describe_kernel(). Empty if no event names it.
std::string contributor_name(const Trace& trace, const Contributor& contributor);
// The name of the operator, label or frame of a data loader around the interval; empty if none.
std::string loader_around(const Trace& trace, Interval span);

}  // namespace assay
