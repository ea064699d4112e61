#pragma once

// Chrome traces of AMD's older tools have no categories: rocmProfileData (rpd2tracing) and rocprof
// before version 3. The process or thread determines the kind of a row. "GPU2" runs GPU activities
// and "COPY" copies; "CPU HIP API" and "Hip 4711" call the runtime (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Moves the rows of other_events in such lanes to their tables, and out of the count of unknown
// categories. Arrows of category "api_op" or "DataFlow" join device rows to their calls. Leaves
// every other trace unchanged. Call once, after all pieces are merged.
void file_rocm_lanes(TraceBuilder& builder);

}  // namespace assay
