#pragma once

// NVTX ranges for a tracer of this process. Without a tracer or NVTX they are no-ops.

namespace assay::replay {

void push_label(const char* text);
void pop_label();
// True if this build supports ranges.
bool labels_possible();

}  // namespace assay::replay
