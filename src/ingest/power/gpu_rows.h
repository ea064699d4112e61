#pragma once

// Which GPU a row of a log is of, where no column tells: nvidia-smi writes all GPUs once per round,
// in the same order.

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

// times: of the rows, in ns. Rows of one round are nearer to each other than rounds are: the split
// is the widest step in the logarithms of the sorted gaps. A full round is placed by order, one
// with lost rows by the choice of GPUs that fits their last values best; never by row number modulo
// the count. Fails where the rows look like those of several GPUs and no rounds are seen.
// told: how many GPUs wrote the log, 0 = to be found. Where they are told and no rounds are seen,
// rows are evenly apart: one that is missing leaves a gap of twice the length. Fails where a gap
// does not tell how many are missing.
Result<GpuRows> place_gpu_rows(const CsvTable& table, const std::vector<int64_t>& times,
                               const std::string& path, size_t told = 0);

}  // namespace assay
