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

// Reads a table with a header line. Columns are found by name, in any order, letter case ignored;
// others are ignored. Required are batch, tklqt and launches. Optional are latency, gpu_idle_share
// and cpu_idle_share. Time columns have a unit suffix (_ns, _us, _ms, _s); without one they are
// nanoseconds. Errors name file and line.
Result<std::vector<SweepRow>> read_sweep_table(const std::string& path);

}  // namespace assay
