#pragma once

// A Gaussian process on the rows of a table, and by how many of its own standard deviations it
// misses on questions of each kind. Inside of the predictor.

#include <memory>
#include <vector>

#include "throughput/predictor.h"

namespace assay {

inline size_t index_of(HeldOut kind) { return static_cast<size_t>(kind); }
inline double length_of(const BenchRow& row) { return row.in_len + row.out_len; }

// One Gaussian process with the names it was trained under.
struct Trained {
  bool physics = false;
  GroupNames names;
  KernelTable table;
  std::vector<double> parameters;
  ConformalScales scales;

  const KernelSpec& spec() const { return physics ? physics_kernel() : plain_kernel(); }
  // Factorised at the first call; nullptr if that fails.
  const GaussianProcess* process() const;

  struct Lazy;
  std::shared_ptr<Lazy> lazy;
};

// Learns, and measures the scales that the options do not have. With digests in the options nothing
// is factorised yet.
Result<Trained> train_and_measure(const std::vector<BenchRow>& rows, const FactBook& facts,
                                  bool physics, const PredictorOptions& options);
// Per row of the table: its block, when everything of a kind is left out together.
std::vector<uint32_t> blocks_of(const std::vector<BenchRow>& rows, const KernelTable& table,
                                HeldOut kind);
// True with two blocks or more: holding out a single block would leave no training data.
bool several(const std::vector<uint32_t>& blocks);

}  // namespace assay
