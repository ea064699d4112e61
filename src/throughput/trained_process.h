#pragma once

// A Gaussian process trained on the rows of a table, with its interval scales per kind of question.
// Internal to the predictor.

#include <memory>
#include <vector>

#include "throughput/predictor.h"

namespace assay {

inline size_t index_of(HeldOut kind) { return static_cast<size_t>(kind); }
inline double length_of(const BenchRow& row) { return row.in_len + row.out_len; }

// One Gaussian process with the ids of names that it was trained with.
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

// Trains a process and measures the scales that the options lack. If the options have scales and
// digests, nothing is factorised yet.
Result<Trained> train_and_measure(const std::vector<BenchRow>& rows, const FactBook& facts,
                                  bool physics, const PredictorOptions& options);
// Block per row of the table. Rows of a block are held out together for questions of this kind.
std::vector<uint32_t> blocks_of(const std::vector<BenchRow>& rows, const KernelTable& table,
                                HeldOut kind);
// True with two blocks or more: holding out a single block would leave no training data.
bool several(const std::vector<uint32_t>& blocks);

}  // namespace assay
