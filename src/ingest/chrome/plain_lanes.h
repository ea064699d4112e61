#pragma once

// Chrome traces of custom tools that use CUPTI, wrap the driver's entry points or are written by
// hand. They have no categories or lane names, only plain names of calls, copies and kernels
// (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Classifies rows without a category by their names, unless some row of the trace is classified
// already. Names of CUDA and HIP calls and of device copies are known. Rows in a lane with such
// copies are kernels if the rows of the lane never overlap, as on a stream. Other rows stay in
// other_events. Counts ImportCode::kNamedRows. Call once, after the functions for lanes with
// tool-specific names.
void file_plain_lanes(TraceBuilder& builder);

}  // namespace assay
