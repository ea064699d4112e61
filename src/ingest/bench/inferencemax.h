#pragma once

// Results of InferenceMAX (InferenceX): one object per run, in a file of its own or in an array.

#include "ingest/bench/columns.h"
#include "ingest/bench/titled.h"
#include "records/bench_table.h"

namespace assay {

// field: by key, empty where there is none.
bool is_inferencemax(const BenchField& field);
// Adds the run, or counts the reason if it is not valid. Times are in seconds. A GPU's throughput
// counts prompts and answers. The GPUs are those of tensor parallelism; experts and attention
// replicas share them. Rates per user (`intvty`) are not read, because their percentiles differ
// between schemas.
void add_inferencemax_run(const BenchField& field, int64_t line, BenchTable& table, OddityLog& log);

}  // namespace assay
