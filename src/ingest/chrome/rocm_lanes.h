#pragma once

// Chrome traces of AMD's older tools, rocmProfileData (rpd2tracing) and rocprof before version 3.
// They have no categories. The process or thread determines the kind of a row: "GPU2" has GPU
// activities, "COPY" copies, "CPU HIP API" and "Hip 4711" runtime calls (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Moves these rows from other_events to their tables, and subtracts them from the count of unknown
// categories. Arrows of category "api_op" or "DataFlow" join device rows to their calls. Other
// traces stay unchanged. Call once, after all pieces are merged.
void file_rocm_lanes(TraceBuilder& builder);

}  // namespace assay
