#pragma once

// The readers of traces as the rows of formats.cc name them: each takes an open input whose format
// has been told. Where the bytes have to lie has been checked before (FileFormat::storage).

#include "ingest/formats.h"

namespace assay {

Result<Trace> read_chrome_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_nsys_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_rocprof_csv_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_rocprof_json_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_rocpd_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_assaytrace_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_columnar_input(TraceInput& input, const ReadOptions& options);

}  // namespace assay
