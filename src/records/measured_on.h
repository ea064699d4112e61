#pragma once

// Checks that a collector measured on the same GPU and with the same tracer as a trace.

#include <string>

#include "base/result.h"
#include "records/replay.h"
#include "trace/trace.h"

namespace assay {

// Fails if `measured` and `traced` are names of different GPUs; an empty name is unknown and
// matches. file: the measured file, for the message.
Status check_same_gpu(const std::string& file, const std::string& measured,
                      const std::string& traced);

// True if both times include the overhead of the same tracer.
bool same_tracer(CollectorTracer measured, Tracer traced);

// "the PyTorch profiler"
std::string tracer_words(Tracer tracer);

}  // namespace assay
