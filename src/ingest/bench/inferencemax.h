#pragma once

// Reads results of InferenceMAX (InferenceX): one object per run, in separate files or in an array.

#include "ingest/bench/columns.h"
#include "ingest/bench/titled.h"
#include "records/bench_table.h"

namespace assay {

// field: the value of a key as text; empty if it is missing.
bool is_inferencemax(const BenchField& field);
// Adds the run, or counts why it is invalid. Times are in seconds. The throughput per GPU covers
// input and output tokens. The number of GPUs is that of tensor parallelism; experts and attention
// replicas share them. Rates per user (`intvty`) are not read, because their percentiles differ
// between schemas.
void add_inferencemax_run(const BenchField& field, int64_t line, BenchTable& table, OddityLog& log);

}  // namespace assay
