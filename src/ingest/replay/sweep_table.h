#pragma once

// Reads a batch sweep from a CSV table: the input of `assay sweep --table` (docs/formats/sweep.md).

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

// One run at one batch size. Times are in nanoseconds, whatever the unit of the column.
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
