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

// Fills throughput from latency, from output tokens, or latency from TTFT and TPOT, where they are
// missing, and checks throughput = (ii + oo) * bb / latency in tables of batches. Results of
// clients that send requests have no such identity.
void fill_and_check_throughput(BenchTable& table);

}  // namespace assay
