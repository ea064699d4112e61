#pragma once

// Properties that only all rows of a table show together: copies of one measurement under two
// names, rows of one benchmark run, and groups in which something else changed between the runs.

#include "records/bench_table.h"

namespace assay {

// A client that does not stream sees the first token with the last: such a TTFT, and the time
// between tokens that follows from it, are taken out.
void refuse_unstreamed(BenchTable& table);
// May be called again when other tables were appended.
void settle_measurements(BenchTable& table);

}  // namespace assay
