#pragma once

// Chrome traces that tools of one's own write from CUPTI, from the driver's entry points or by
// hand: no categories, no names of lanes, but the plain names of calls, copies and kernels
// (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Files rows without a category by their names, where nothing else of the trace was filed at all:
// calls of CUDA's and HIP's interfaces, copies of a device, and as kernels what shares a lane with
// such copies and never runs beside another row of it, as on a stream. The rest stays where it is.
// Counted as ImportCode::kNamedRows. Call once, after the lanes that other tools name.
void file_plain_lanes(TraceBuilder& builder);

}  // namespace assay
