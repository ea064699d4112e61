#pragma once

// Reads results of Hugging Face's optimum-benchmark: a benchmark.json with `config` and `report`,
// and the CSV files of the llm-perf leaderboard. Their titles are the same names with dots.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/bench/columns.h"
#include "ingest/bench/titled.h"
#include "records/bench_table.h"

namespace assay {

// Adds the run, or counts why it is unusable: a leaderboard keeps failed runs, without a report.
// field: the value of a path such as "report.prefill.latency.mean".
void add_optimum_run(const BenchField& field, int64_t line, BenchTable& table, OddityLog& log);

bool is_optimum_csv(const std::vector<CsvRecord>& records);
Result<BenchTable> bench_table_of_optimum_csv(const std::vector<CsvRecord>& records);

}  // namespace assay
