#pragma once

// Order between streams that only a wait on the host enforces.

#include <cstdint>
#include <vector>

#include "flow/run.h"

namespace assay {

// Per work: the work of another stream that its thread had waited for before the launch, or
// kNoFlowRow. Pairs of names that overlap elsewhere in the run need no order and are left out.
// Empty if no work has one.
std::vector<uint32_t> host_order(const FlowRun& run);

}  // namespace assay
