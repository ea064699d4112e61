#pragma once

// Results of Hugging Face's optimum-benchmark: a benchmark.json with its `config` and `report`, and
// the CSV files of the llm-perf leaderboard. Titles of the latter are the same names with points.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/bench/columns.h"
#include "ingest/bench/titled.h"
#include "records/bench_table.h"

namespace assay {

// field: by paths, "report.prefill.latency.mean". Adds the run, or counts why it is none: a
// leaderboard keeps the runs that failed, without report.
void add_optimum_run(const BenchField& field, int64_t line, BenchTable& table, OddityLog& log);

bool is_optimum_csv(const std::vector<CsvRecord>& records);
Result<BenchTable> bench_table_of_optimum_csv(const std::vector<CsvRecord>& records);

}  // namespace assay
