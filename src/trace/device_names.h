#pragma once

// What a trace calls its devices.

#include <string>

#include "trace/trace.h"

namespace assay {

// The name of the GPU that ran most kernels, as the trace tells it; empty when it does not.
std::string gpu_of_trace(const Trace& trace);
// The name of a device by its number; of the first one where that is negative. Empty when the trace
// does not tell it.
std::string device_name(const Trace& trace, int64_t device);

}  // namespace assay
