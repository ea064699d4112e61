#pragma once

// Recurring initialization: compilation, code loading or graph capture in iteration after
// iteration.

#include <cstdint>

#include "flow/flow.h"
#include "trace/iterations.h"

namespace assay {

// Number of iterations in which initialization leaves the devices idle for a fifth of the time or
// more. 0 unless the last iteration and most of the second half are affected, or affected
// iterations come in at least three separate groups. 0 for fewer than four iterations.
uint64_t cold_again(const FlowReport& report, const Windows& iterations);

}  // namespace assay
