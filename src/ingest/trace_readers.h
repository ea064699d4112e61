#pragma once

// The trace readers in the rows of formats.cc. Each takes an open input of a detected format. The
// caller checks FileFormat::storage first.

#include "ingest/formats.h"

namespace assay {

Result<Trace> read_chrome_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_nsys_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_nsys_report_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_rocprof_csv_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_rocprof_json_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_rocpd_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_rpd_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_xplane_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_pftrace_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_assaytrace_input(TraceInput& input, const ReadOptions& options);
Result<Trace> read_columnar_input(TraceInput& input, const ReadOptions& options);

}  // namespace assay
