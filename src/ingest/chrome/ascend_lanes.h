#pragma once

// The trace_view.json of torch_npu. Its operators have PyTorch's categories; other rows have none
// or categories of torch_npu. The process determines the kind of a row: "Ascend Hardware" has GPU
// activities, "CANN" runtime calls. "Enqueue" and "Dequeue" rows are the two ends of the queue
// between the operators' thread and the launching thread (docs/formats/kineto.md).

#include "trace/builder.h"

namespace assay {

// Moves these rows from other_events to their tables, and subtracts them from the count of unknown
// categories. An arrow "HostToDevice" or "async_task_queue" gives an activity and its call one
// correlation id. Other traces stay unchanged. Call once, after all pieces are merged.
void file_ascend_lanes(TraceBuilder& builder);

}  // namespace assay
