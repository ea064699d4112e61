#pragma once

// CSV tables of throughput per configuration, whatever their columns are called.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/bench_table.h"
#include "ingest/csv_records.h"

namespace assay {

// records: with blank lines kept. The table's `source` is left to the caller.
Result<BenchTable> bench_table_of_csv(const std::vector<CsvRecord>& records,
                                      const BenchReadOptions& options);

// Fills throughput from latency where it is missing, and checks
// throughput = (ii + oo) * bb / latency where both are there.
void check_throughput_identity(BenchTable& table);

}  // namespace assay
