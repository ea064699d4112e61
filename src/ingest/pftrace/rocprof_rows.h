#pragma once

// Rows of rocprofv3 (--output-format pftrace) and rocprofiler-systems in a Perfetto trace.

#include "ingest/pftrace/rows.h"
#include "ingest/rocprof/run.h"

namespace assay {

// True if a slice has a category of these profilers.
bool is_rocprof_pftrace(const PerfettoRows& rows);

// The run, as the readers of the other output formats of rocprofv3 give it. Moves the texts and the
// log out of `rows`. Names of categories, tracks and annotations are those of generatePerfetto.cpp
// in rocprofiler-sdk and perfetto_processor.cpp in rocprofiler-systems.
RocprofRun rocprof_run_of(PerfettoRows rows);

}  // namespace assay
