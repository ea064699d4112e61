#pragma once

// CSV tables of throughput per configuration, whatever their columns are called.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/bench/table.h"
#include "ingest/text/csv_records.h"

namespace assay {

// records: with blank lines kept. The table's `source` is left to the caller.
Result<BenchTable> bench_table_of_csv(std::vector<CsvRecord> records, char delimiter,
                                      const BenchReadOptions& options);

// True if these titles name a size of a run, and its speed or duration.
bool names_throughput(const std::vector<std::string>& header);

}  // namespace assay
