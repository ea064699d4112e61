#pragma once

// How many requests a client's run really had in flight. A limit of concurrency that the request
// rate never reached says nothing about capacity.

#include "ingest/bench/columns.h"
#include "records/bench_table.h"

namespace assay {

// For results of a client with latency as the mean over requests. A missing concurrency follows
// from Little's law: requests per second x mean latency. In runs limited by their request rate,
// that value replaces the limit; if it cannot be computed, the row is dropped.
void settle_concurrency(BenchTable& table);

// The same for CSV rows with a request rate; their batch sizes are integers. Returns false if the
// batch size cannot be known.
bool settle_paced_batch(BenchRow& row, OddityLog& log);

}  // namespace assay
