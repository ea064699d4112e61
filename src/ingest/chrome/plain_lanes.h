#pragma once

// Chrome traces of custom tools, from CUPTI, from the driver's entry points or by hand. They have
// no categories and no lane names, only plain names of calls, copies and kernels
// (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Classifies rows without a category by their names, if no row of the trace was classified before.
// Calls of the CUDA and HIP interfaces and device copies have known names. Rows that share a lane
// with such copies and never overlap another row of it, as on a stream, are kernels. Other rows
// stay. Counted as ImportCode::kNamedRows. Call once, after the lanes with tool-specific names.
void file_plain_lanes(TraceBuilder& builder);

}  // namespace assay
