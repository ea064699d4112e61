#pragma once

// Chrome traces of AMD's older tools give their rows no category: rocmProfileData (rpd2tracing) and
// rocprof before its third version. What a row is, its process or thread says: "GPU2" runs device
// work, "COPY" copies, "CPU HIP API" and "Hip 4711" call the runtime (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Files the rows of other_events that stand in such lanes under what they are, joins device rows to
// the calls that an arrow of category "api_op" or "DataFlow" leads from, and takes them out of the
// count of unknown categories. Leaves every other trace as it is. Call once, after all pieces are
// merged.
void file_rocm_lanes(TraceBuilder& builder);

}  // namespace assay
