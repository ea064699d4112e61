#pragma once

// A batch sweep as a CSV table: what `assay sweep --table` reads (docs/formats/sweep.md).

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

// One row: one run at one batch size. Times in nanoseconds whatever the column's unit was.
struct SweepRow {
  double batch = 0;
  double tklqt_ns = 0;
  double launches = 0;
  std::optional<double> latency_ns;
  std::optional<double> gpu_idle_share;
  std::optional<double> cpu_idle_share;
};

// Reads a table with a header line. Columns by name, letter case ignored, any order, others
// ignored: batch, tklqt, launches; optional latency, gpu_idle_share, cpu_idle_share. Time columns
// take a unit suffix (_ns, _us, _ms, _s); without one they are nanoseconds. Errors name file and
// line.
Result<std::vector<SweepRow>> read_sweep_table(const std::string& path);

}  // namespace assay
