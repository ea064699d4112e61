#pragma once

// How many requests a client's run really had in flight. A limit of concurrency that the request
// rate never reached says nothing about capacity.

#include "ingest/bench/columns.h"
#include "records/bench_table.h"

namespace assay {

// Of a client's results, whose latency is the mean over requests. Without a concurrency it is
// worked out by Little's law: requests per second x mean latency. In runs limited by their request
// rate the same takes the place of the limit; where it cannot be worked out the row is dropped.
void settle_concurrency(BenchTable& table);

// The same of rows of a CSV that tell a request rate, whose batch sizes are whole numbers. False:
// the row has no batch size that can be known.
bool settle_paced_batch(BenchRow& row, OddityLog& log);

}  // namespace assay
