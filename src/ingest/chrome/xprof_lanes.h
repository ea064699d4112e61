#pragma once

// The trace.json of JAX's and TensorFlow's profiler: no row has a category. Lanes "Stream #13(...)"
// of a process "/device:GPU:0" run device work; of "/host:CPU" rows named after calls of the
// runtime are calls, those that begin with '$' frames of Python, and all else labels. An argument
// "correlation_id" joins work to calls (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Files such rows of other_events under what they are, and takes them out of the count of unknown
// categories; lanes that show the same work again ("XLA Ops", "XLA Modules") stay there. Leaves
// every other trace as it is. Call once, after all pieces are merged.
void file_xprof_lanes(TraceBuilder& builder);

}  // namespace assay
