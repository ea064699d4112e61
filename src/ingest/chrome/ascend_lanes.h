#pragma once

// The trace_view.json of torch_npu. Its operators have the categories of PyTorch; other rows have
// none or its own. The process determines the kind of a row: "Ascend Hardware" runs GPU activities,
// "CANN" calls the runtime. "Enqueue" and "Dequeue" rows are the two ends of the queue between the
// operators' thread and the launching thread (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Moves such rows from other_events to their tables, and out of the count of unknown categories.
// The arrows "HostToDevice" and "async_task_queue" give an activity and its call one correlation
// id. Leaves every other trace unchanged. Call once, after all pieces are merged.
void file_ascend_lanes(TraceBuilder& builder);

}  // namespace assay
