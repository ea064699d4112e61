#pragma once

// Throughput = (ii + oo) x bb / latency holds where a table is of batches: what is missing is
// worked out, and units that were not told show in the factor by which it fails.

#include "records/bench_table.h"

namespace assay {

void fill_and_check_throughput(BenchTable& table);

}  // namespace assay
