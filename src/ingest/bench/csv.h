#pragma once

// Reads CSV tables of throughput per configuration, with any column names.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/bench/table.h"
#include "ingest/text/csv_records.h"

namespace assay {

// records: including those of blank lines. The caller sets the table's `source`.
Result<BenchTable> bench_table_of_csv(std::vector<CsvRecord> records, char delimiter,
                                      const BenchReadOptions& options);

// True if the titles include a size of a run, and its throughput or duration.
bool names_throughput(const std::vector<std::string>& header);

}  // namespace assay
