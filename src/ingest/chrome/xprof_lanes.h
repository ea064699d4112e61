#pragma once

// The trace.json of JAX's and TensorFlow's profiler has no categories. Lanes "Stream #13(...)" of a
// process "/device:GPU:0" run GPU activities. In "/host:CPU", rows named after calls of the runtime
// are calls, those that begin with '$' are Python frames, and all others are labels. An argument
// "correlation_id" joins activities to calls (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Moves such rows from other_events to their tables, and out of the count of unknown categories.
// Lanes that repeat the same activities ("XLA Ops", "XLA Modules") stay there. Leaves every other
// trace unchanged. Call once, after all pieces are merged.
void file_xprof_lanes(TraceBuilder& builder);

}  // namespace assay
