#pragma once

// Names of a trace's devices.

#include <string>

#include "trace/trace.h"

namespace assay {

// The name of the GPU that ran the most kernels, of those in Trace::devices; else the name that all
// devices share; else empty.
std::string gpu_of_trace(const Trace& trace);
// The name of a device by its number; that of the first device if the number is negative. Empty if
// unknown.
std::string device_name(const Trace& trace, int64_t device);

}  // namespace assay
