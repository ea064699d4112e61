#pragma once

// One side of a comparison: its runs combined, ready for averaging and resampling.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diff/run.h"

namespace assay {

// Sums of an item over one block of samples.
struct BlockCost {
  uint32_t block = 0;
  DiffCost cost;
};

struct DiffSideLevel {
  std::vector<DiffItem> items;
  std::vector<DiffCost> sums;                  // per item, over all samples
  std::vector<std::vector<BlockCost>> blocks;  // per item, by block
  std::vector<uint32_t> sequence;
};

struct DiffSideMetric {
  std::string key;
  std::string label;
  DiffUnit unit = DiffUnit::kNanoseconds;
  double mean = 0;  // over iterations that have it
  uint64_t n = 0;
  std::vector<double> block_sums;
  std::vector<uint64_t> block_counts;
  bool per_run = false;  // DiffMetricSeries::per_run
};

// Unit of the bootstrap: whole runs if there are repeats, else blocks of iterations.
enum class BlockKind : uint8_t { kRuns, kIterations };

struct DiffSide {
  uint64_t runs = 0;        // files
  uint64_t repeats = 0;     // runs, counting all ranks of a run as one
  uint64_t iterations = 0;  // summed over repeats
  uint64_t samples = 0;     // GPU x iteration
  BlockKind block_kind = BlockKind::kIterations;
  std::vector<uint64_t> block_samples;  // samples per block
  int64_t time_ns = 0;                  // mean per sample, rounded
  int64_t time_sum_ns = 0;
  std::vector<int64_t> block_times;
  std::vector<std::string> repeat_files;  // the first file of each repeat
  std::array<DiffSideLevel, kDiffLevels> levels;
  std::vector<DiffSideMetric> metrics;
  uint64_t content_hash = 0;  // of the times, independent of file names
};

// Combines runs. Files with different ranks form one repeat. The n-th file of a rank, or the n-th
// without a rank, belongs to repeat n.
DiffSide make_side(const std::vector<DiffRun>& runs);

// Costs per sample in whole nanoseconds that sum to mean_ns = round(total / samples) exactly. The
// largest remainders are rounded up, ties in order of item names.
struct MeanCost {
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
};
std::vector<MeanCost> mean_costs(const DiffSideLevel& level, uint64_t samples, int64_t mean_ns);

}  // namespace assay
