#include "diff/noise.h"

#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "base/random.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr double kNormal95 = 1.959963984540054;  // z at 0.975

// 2.5 % and 97.5 % order statistics, at equal distances from both ends.
ChangeInterval interval_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t cut = values.size() / 40;
  return {true, values[cut], values[values.size() - 1 - cut]};
}

// Factor that widens percentiles of resamples of few blocks to Student's t interval.
double few_blocks(size_t blocks) {
  const double t = student_t95(blocks - 1);
  if (blocks == 2) return t;
  const auto n = static_cast<double>(blocks);
  return std::sqrt(n / (n - 1)) * t / kNormal95;
}

}  // namespace

BlockDraws::BlockDraws(const DiffSide& side, const Resampling& options)
    : BlockDraws(side.block_samples.size(), side.block_kind == BlockKind::kIterations,
                 options.resamples, mix_seeds(options.seed, side.content_hash)) {}

BlockDraws BlockDraws::of_pairs(const DiffSide& a, const DiffSide& b, const Resampling& options) {
  // Symmetric in a and b.
  const uint64_t both = a.content_hash + b.content_hash;
  return {a.block_samples.size(), false, options.resamples, mix_seeds(options.seed, both)};
}

BlockDraws::BlockDraws(size_t blocks, bool in_order, size_t resamples, uint64_t seed)
    : blocks_(blocks), in_order_(in_order), resamples_(resamples) {
  if (blocks_ < 2) return;
  drawn_.assign(resamples_ * blocks_, 0);
  SplitMix64 random(seed);
  for (size_t r = 0; r < resamples_; ++r) {
    for (size_t i = 0; i < blocks_; ++i) {
      ++drawn_[r * blocks_ + static_cast<size_t>(random.below(static_cast<int64_t>(blocks_)))];
    }
  }
}

double BlockDraws::memory(const std::vector<double>& sums,
                          const std::vector<uint64_t>& counts) const {
  if (!in_order_) return 1;
  std::vector<double> means;
  for (size_t b = 0; b < blocks_; ++b) {
    if (counts[b] > 0) means.push_back(sums[b] / static_cast<double>(counts[b]));
  }
  return memory_widening(means);
}

std::vector<double> BlockDraws::deviations(const std::vector<double>& sums,
                                           const std::vector<uint64_t>& counts) const {
  if (blocks_ < 2) return {};
  double all = 0;
  double number = 0;
  for (size_t b = 0; b < blocks_; ++b) {
    all += sums[b];
    number += static_cast<double>(counts[b]);
  }
  std::vector<double> result(resamples_, 0.0);
  if (number == 0) return result;
  const double widen = few_blocks(blocks_) * memory(sums, counts);
  const double mean = all / number;
  for (size_t r = 0; r < resamples_; ++r) {
    double sum = 0;
    double drawn = 0;
    for (size_t b = 0; b < blocks_; ++b) {
      const auto times = static_cast<double>(drawn_[r * blocks_ + b]);
      sum += times * sums[b];
      drawn += times * static_cast<double>(counts[b]);
    }
    if (drawn > 0) result[r] = widen * (sum / drawn - mean);
  }
  return result;
}

ChangeInterval change_interval(double change, const BlockDraws& draws_a, const BlockDraws& draws_b,
                               const std::vector<double>& a, const std::vector<double>& b) {
  if (draws_a.blocks() < 2 || draws_b.blocks() < 2) return {};
  std::vector<double> changes(a.size());
  for (size_t r = 0; r < a.size(); ++r) changes[r] = change + (b[r] - a[r]);
  return interval_of(std::move(changes));
}

ChangeInterval relative_interval(double mean_a, double change, const BlockDraws& draws_a,
                                 const BlockDraws& draws_b, const std::vector<double>& a,
                                 const std::vector<double>& b) {
  if (draws_a.blocks() < 2 || draws_b.blocks() < 2) return {};
  std::vector<double> shares(a.size());
  for (size_t r = 0; r < a.size(); ++r) {
    const double moved = change + (b[r] - a[r]);
    const double base = std::abs(mean_a + a[r]);
    shares[r] = moved == 0 ? 0 : base == 0 ? std::copysign(HUGE_VAL, moved) : moved / base;
  }
  return interval_of(std::move(shares));
}

ChangeInterval level_interval(double mean, const BlockDraws& draws,
                              const std::vector<double>& deviations) {
  if (draws.blocks() < 2) return {};
  std::vector<double> values(deviations.size());
  for (size_t r = 0; r < values.size(); ++r) values[r] = mean + deviations[r];
  return interval_of(std::move(values));
}

}  // namespace assay
