#pragma once

// Infers the actual concurrency of a client's run. A concurrency limit that the request rate never
// reached says nothing about capacity.

#include "ingest/bench/columns.h"
#include "records/bench_table.h"

namespace assay {

// For client results that give the mean latency over requests. Computes a missing concurrency by
// Little's law: requests per second x mean latency. If the request rate limited a run, that value
// replaces the limit; if it cannot be computed, the row is dropped.
void settle_concurrency(BenchTable& table);

// The same for a CSV row with a request rate, with an integer batch size. False if the batch size
// is unknown and the row must be dropped.
bool settle_paced_batch(BenchRow& row, OddityLog& log);

}  // namespace assay
