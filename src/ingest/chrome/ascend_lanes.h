#pragma once

// The trace_view.json of torch_npu: operators have the categories of PyTorch, all else has none or
// its own. What a row is, its process says: "Ascend Hardware" runs device work, "CANN" calls the
// runtime; "Enqueue" and "Dequeue" rows are the two ends of the queue between the thread of the
// operators and the one that launches (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Files such rows of other_events under what they are, gives work and the call that asked for it
// one correlation id, by the arrows "HostToDevice" and "async_task_queue", and takes them out of
// the count of unknown categories. Leaves every other trace as it is. Call once, after all pieces
// are merged.
void file_ascend_lanes(TraceBuilder& builder);

}  // namespace assay
