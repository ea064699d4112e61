#pragma once

// Infers the GPU of each row of a log without a GPU column: nvidia-smi writes all GPUs once per
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
      of_row;  // per row; kUnplaced = in a round with lost rows, of several that fit
  size_t unplaced = 0;

  // "" where there is one GPU, else its place in a round.
  std::string name(size_t row) const { return gpus > 1 ? std::to_string(of_row[row]) : ""; }
};

// times: of the rows, in ns. Rows of one round are closer together than rounds: the split is at the
// widest step in the logarithms of the sorted gaps. A full round is assigned in order. A round with
// lost rows gets the choice of GPUs that fits their last values best, never the row number modulo
// the count. Fails if the rows appear to be of several GPUs and no rounds are visible. told: number
// of GPUs in the log, 0 = detect it. With a given number and no visible rounds, rows are evenly
// spaced, and a missing one leaves a gap of twice the length. Fails if a gap does not show how many
// are missing.
Result<GpuRows> place_gpu_rows(const CsvTable& table, const std::vector<int64_t>& times,
                               const std::string& path, size_t told = 0);

}  // namespace assay
