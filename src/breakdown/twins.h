#pragma once

// Attributes kernels without a launch in the trace, mostly those queued before it began. They get
// the attribution of matching kernels, which are the same sequence on the same stream, launched
// inside the trace.

#include "breakdown/breakdown.h"

namespace assay {

// Attributes rows without a launch by the longest attributed sequence of kernel names with the same
// end. Sequences shorter than 8 kernels are not used. The remaining rows take the operation that
// all attributed kernels of the same name share. `rows` in any order.
void place_by_twins(const Trace& trace, std::vector<KernelLevel>& rows);

}  // namespace assay
