#pragma once

// In tables of batches, throughput = (ii + oo) x bb / latency. Computes missing values from this
// identity, and detects wrong units by the factor between its two sides.

#include "records/bench_table.h"

namespace assay {

void fill_and_check_throughput(BenchTable& table);

}  // namespace assay
