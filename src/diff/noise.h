#pragma once

// Confidence intervals of differences of means, by the bootstrap over blocks.
//
// Blocks of each side are resampled with replacement and the means computed again (percentile
// bootstrap). With few blocks that is too narrow. Deviations are widened by sqrt(n / (n - 1)) t(n -
// 1) / z, the expanded percentile interval of Hesterberg ("What teachers should know about the
// bootstrap", The American Statistician 69, 2015, section 5.3). With two blocks, the extreme draws
// are single blocks, and only t(1) is needed. Blocks of one run are in order of time and may be
// correlated; deviations are widened by the effect of correlation on the mean (base/memory.h). A
// side's draws depend only on its own data. Exchanging the sides therefore mirrors every interval
// exactly, and a side compared with itself has the interval [0, 0].

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diff/side.h"

namespace assay {

struct Resampling {
  size_t resamples = 2000;
  uint64_t seed = 1;
  // Run i of A and run i of B were measured under the same conditions and are drawn together. Both
  // sides need the same number of repeats, two or more.
  bool paired = false;
};

struct ChangeInterval {
  bool known = false;  // both sides have at least two blocks
  double low = 0;
  double high = 0;
};

// How often each block was drawn, per resample.
class BlockDraws {
 public:
  BlockDraws(const DiffSide& side, const Resampling& options);
  // Draws of pairs, valid for both sides.
  static BlockDraws of_pairs(const DiffSide& a, const DiffSide& b, const Resampling& options);

  size_t blocks() const { return blocks_; }
  // Per resample: widened deviation of its mean from the mean of all blocks. Sums and counts are
  // per block. 0 for a resample without counts; empty with fewer than two blocks.
  std::vector<double> deviations(const std::vector<double>& sums,
                                 const std::vector<uint64_t>& counts) const;
  // Factor of the widening for correlation of consecutive blocks; 1 if blocks are runs.
  double memory(const std::vector<double>& sums, const std::vector<uint64_t>& counts) const;

 private:
  BlockDraws(size_t blocks, bool in_order, size_t resamples, uint64_t seed);

  size_t blocks_ = 0;
  bool in_order_ = false;
  size_t resamples_ = 0;
  std::vector<uint16_t> drawn_;  // [resample][block]
};

// 95 % interval of mean_b - mean_a from the deviations of both; `change` is that difference.
ChangeInterval change_interval(double change, const BlockDraws& draws_a, const BlockDraws& draws_b,
                               const std::vector<double>& a, const std::vector<double>& b);
// 95 % interval of (mean_b - mean_a) / |mean_a|; infinite where a drawn mean of A is 0 and B's not.
ChangeInterval relative_interval(double mean_a, double change, const BlockDraws& draws_a,
                                 const BlockDraws& draws_b, const std::vector<double>& a,
                                 const std::vector<double>& b);
// 95 % interval of one side's mean.
ChangeInterval level_interval(double mean, const BlockDraws& draws,
                              const std::vector<double>& deviations);

}  // namespace assay
