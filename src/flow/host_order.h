#pragma once

// Order between streams that only the host carries.

#include <cstdint>
#include <vector>

#include "flow/run.h"

namespace assay {

// Per work what its thread had waited for before it launched it, on another stream, where nothing
// launched there since says so already; kNoFlowRow = nothing. Empty where no work has any. Without
// the wait the second may need the first all the same: only where the same two names, in order here
// by a wait, run side by side elsewhere in the run, it does not.
std::vector<uint32_t> host_order(const FlowRun& run);

}  // namespace assay
