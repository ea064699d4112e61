#pragma once

// Converts the event tables of a Nsight Systems export to the rows of a Trace, table by table
// (docs/formats/nsys.md).

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/nsys/cells.h"
#include "ingest/sqlite_file.h"

namespace assay {

// (process id, CUDA device) to the report's device number, if processes number devices differently;
// else empty.
using NsysDevices = std::map<std::pair<int64_t, int64_t>, int64_t>;

// Reads calls, NVTX ranges, profiler overhead and tables that go to other_events.
Status read_host_rows(const SqliteFile& file, NsysCells& cells);
// Reads kernels, copies, fills, waits, graphs and allocations.
Status read_device_rows(const SqliteFile& file, const NsysDevices& devices, NsysCells& cells);
// Approximate number of rows that read_host_rows and read_device_rows will read.
uint64_t expected_rows(const SqliteFile& file);

}  // namespace assay
