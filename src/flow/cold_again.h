#pragma once

// One-off costs that are none: compiling, loading code, captures that come in each iteration.

#include <cstdint>

#include "flow/flow.h"
#include "trace/iterations.h"

namespace assay {

// Iterations that such costs hold the devices up in for a fifth of their time or more, where most
// of the second half are so, and the last one: a start that takes its time ends before. Else 0;
// also of fewer than four iterations.
uint64_t cold_again(const FlowReport& report, const Windows& iterations);

}  // namespace assay
