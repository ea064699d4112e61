#pragma once

// What a trace calls its devices.

#include <string>

#include "trace/trace.h"

namespace assay {

// The name of the GPU that ran most kernels, as the trace tells it; empty when it does not.
std::string gpu_of_trace(const Trace& trace);

}  // namespace assay
