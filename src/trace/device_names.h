#pragma once

// Names of a trace's devices.

#include <string>

#include "trace/trace.h"

namespace assay {

// The name of the GPU that ran most kernels; empty if the trace lacks it.
std::string gpu_of_trace(const Trace& trace);
// The name of a device by its number; of the first device if the number is negative. Empty if the
// trace lacks it.
std::string device_name(const Trace& trace, int64_t device);

}  // namespace assay
