#pragma once

// Throughput = (ii + oo) x bb / latency holds in tables of batches. Missing values follow from it,
// and the factor by which it fails shows unknown units.

#include "records/bench_table.h"

namespace assay {

void fill_and_check_throughput(BenchTable& table);

}  // namespace assay
