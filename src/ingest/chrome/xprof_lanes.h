#pragma once

// The trace.json of JAX's and TensorFlow's profiler. It has no categories. Lanes "Stream #13(...)"
// of a process "/device:GPU:0" have GPU activities. In "/host:CPU", rows named after runtime calls
// are calls, names that begin with '$' are Python frames, and all others are labels. An argument
// "correlation_id" joins activities to calls (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Moves these rows from other_events to their tables, and subtracts them from the count of unknown
// categories. Lanes that repeat the same activities ("XLA Ops", "XLA Modules") stay there. Other
// traces stay unchanged. Call once, after all pieces are merged.
void file_xprof_lanes(TraceBuilder& builder);

}  // namespace assay
