#pragma once

// Checks that need all rows of a table: copies of one measurement under two names, rows of one
// benchmark run, and groups in which something else changed between the runs.

#include "records/bench_table.h"

namespace assay {

// Removes TTFT and TPOT from rows of clients that did not stream: there the first token arrives
// with the last one.
void refuse_unstreamed(BenchTable& table);
// Sets the benchmark run of each row, drops copies and marks unsteady groups. May be called again
// after other tables were appended.
void settle_measurements(BenchTable& table);

}  // namespace assay
