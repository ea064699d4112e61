#pragma once

// Whether what a collector measured was measured on what a trace ran on, and like it.

#include <string>

#include "base/result.h"
#include "records/replay.h"
#include "trace/trace.h"

namespace assay {

// Fails when `measured` and `traced` are names of different GPUs; nothing is known of an empty one.
// file: what was measured, for the message.
Status check_same_gpu(const std::string& file, const std::string& measured,
                      const std::string& traced);

// Whether both times include the cost of one tracer.
bool same_tracer(CollectorTracer measured, Tracer traced);

// "the PyTorch profiler"
std::string tracer_words(Tracer tracer);

}  // namespace assay
