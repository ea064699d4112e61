#pragma once

// Kernels whose launch is not in the trace, above all those queued before it began, are placed like
// their twins: the same run of kernels on the same stream, launched inside the trace.

#include "breakdown/breakdown.h"

namespace assay {

// Places rows without a launch by the longest run of kernel names that ends like theirs and is
// placed; shorter runs than 8 kernels tell nothing. What is left takes the operation that all
// placed kernels of its name share. `rows` in any order.
void place_by_twins(const Trace& trace, std::vector<KernelLevel>& rows);

}  // namespace assay
