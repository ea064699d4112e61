#pragma once

// A Trace as Chrome-trace JSON in the form that the PyTorch profiler writes, for Perfetto,
// chrome://tracing and every tool that reads Kineto files (docs/formats/kineto.md).

#include <string>

#include "trace/trace.h"

namespace assay {

// Times are exact: microseconds with three decimals, relative to baseTimeNanoseconds.
std::string chrome_json(const Trace& trace);

}  // namespace assay
