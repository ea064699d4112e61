#pragma once

// Attributes kernels without a launch in the trace, mostly those queued before it began, like the
// matching kernels: the same sequence on the same stream, launched inside the trace.

#include "breakdown/breakdown.h"

namespace assay {

// Attributes rows without a launch by the longest attributed sequence of kernel names that ends the
// same way. Sequences shorter than 8 kernels are not used. Remaining rows get the operation of
// kernels with their name, if all of those have the same. `rows` may be in any order.
void place_by_twins(const Trace& trace, std::vector<KernelLevel>& rows);

}  // namespace assay
