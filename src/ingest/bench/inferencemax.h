#pragma once

// Results of InferenceMAX (InferenceX): one object per run, in a file of its own or in an array.

#include "ingest/bench/columns.h"
#include "ingest/bench/titled.h"
#include "records/bench_table.h"

namespace assay {

// field: by key, empty where there is none.
bool is_inferencemax(const BenchField& field);
// Adds the run, or counts why it is none. Times are in seconds; a GPU's throughput counts prompts
// and answers; the GPUs are those of tensor parallelism, over which experts and attention replicas
// are spread, too. Rates per user (`intvty`) are not read: what their percentiles mean differs from
// schema to schema.
void add_inferencemax_run(const BenchField& field, int64_t line, BenchTable& table, OddityLog& log);

}  // namespace assay
