#pragma once

// From the event tables of a Nsight Systems export to the rows of a Trace, table by table
// (docs/formats/nsys.md).

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/nsys/cells.h"
#include "ingest/sqlite_file.h"

namespace assay {

// (process id, CUDA device) to the device's number in the report, where processes number devices
// differently; else empty.
using NsysDevices = std::map<std::pair<int64_t, int64_t>, int64_t>;

// Calls, NVTX ranges, the profiler's overhead, and what is kept aside.
Status read_host_rows(const SqliteFile& file, NsysCells& cells);
// Kernels, copies, fills, waits, graphs and allocations.
Status read_device_rows(const SqliteFile& file, const NsysDevices& devices, NsysCells& cells);
// About how many rows the two will read.
uint64_t expected_rows(const SqliteFile& file);

}  // namespace assay
