#pragma once

// Reads tables with counters per kernel: Nsight Compute's and CUPTI's, wide (a column per counter)
// or long (a row per counter), and those of rocprof-compute.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/text/csv_records.h"
#include "records/counters.h"

namespace assay {

enum class CounterTableKind : uint8_t {
  kNone,
  kNcuRaw,          // ncu --csv --page raw: a row per kernel, a line of units under the header
  kNcuDetails,      // ncu --csv (--page details): a row per kernel and metric
  kRocprofCompute,  // pmc_perf.csv: a row per kernel, channels as NAME[i]
  kWide,            // any table with a column of kernel or range names and numbers
  kLong,            // the same with a metric name and a value per row
};
CounterTableKind counter_table_kind(const std::vector<std::string>& header);
std::string_view counter_table_words(CounterTableKind kind);

// records: all of the table, starting with the header. Fails if no row is usable.
Result<CounterPass> read_counter_table(const std::vector<CsvRecord>& records, CounterTableKind kind,
                                       const std::string& source);

// The factor from `unit` to its base unit (ns, byte, hz, 1/s), for the scaled units that Nsight
// Compute prints; 1 for other units. Sets `base` to the base unit.
double prefix_factor(std::string_view unit, std::string& base);

}  // namespace assay
