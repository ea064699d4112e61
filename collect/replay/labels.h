#pragma once

// Ranges that a tracer around this process sees (NVTX); without a tracer or NVTX they cost nothing.

namespace assay::replay {

void push_label(const char* text);
void pop_label();
// Whether this build can make ranges at all.
bool labels_possible();

}  // namespace assay::replay
