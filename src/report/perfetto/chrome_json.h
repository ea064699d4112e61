#pragma once

// A Trace as Chrome-trace JSON in the shape that the PyTorch profiler writes: for Perfetto and
// chrome://tracing, and for every tool that reads Kineto's files (docs/formats/kineto.md).

#include <string>

#include "trace/trace.h"

namespace assay {

// Times are exact: microseconds with three decimals, counted from baseTimeNanoseconds.
std::string chrome_json(const Trace& trace);

}  // namespace assay
