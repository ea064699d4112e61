#pragma once

// Infers the GPU of each row of a log without a GPU column. nvidia-smi writes all GPUs once per
// round, in the same order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/text/csv_table.h"

namespace assay {

struct GpuRows {
  static constexpr size_t kUnplaced = SIZE_MAX;
  size_t gpus = 1;
  std::vector<size_t>
      of_row;  // per row; kUnplaced = the round has lost rows and several choices fit
  size_t unplaced = 0;

  // "" for a single GPU, else its position in a round.
  std::string name(size_t row) const { return gpus > 1 ? std::to_string(of_row[row]) : ""; }
};

// times: of the rows, in ns. told: number of GPUs in the log, 0 = detect it.
// Gaps within a round are shorter than gaps between rounds; the two are separated at the widest
// step in the logarithms of the sorted gaps. Rows of a complete round are assigned in order. A
// round with lost rows gets the GPUs with the best-fitting previous values, never the row number
// modulo the count. With a given number of GPUs and no visible rounds, rows must be evenly spaced,
// and lost rows leave a gap of a multiple of that spacing.
// Fails if rows look like those of several GPUs but have no rounds, or if a gap does not determine
// the number of lost rows.
Result<GpuRows> place_gpu_rows(const CsvTable& table, const std::vector<int64_t>& times,
                               const std::string& path, size_t told = 0);

}  // namespace assay
