#include "breakdown/training_pass.h"

#include <algorithm>

namespace assay {

namespace {

struct OptimizerRun {
  size_t begin = 0;
  size_t end = 0;  // equal to begin: no optimizer, or several with other work between them
};

OptimizerRun optimizer_run(const std::vector<BlockUnit>& units) {
  const auto is_step = [](const BlockUnit& unit) { return unit.step; };
  const auto first = std::find_if(units.begin(), units.end(), is_step);
  if (first == units.end()) return {};
  const auto last = std::find_if(units.rbegin(), units.rend(), is_step).base();
  const bool one = std::none_of(first, last, [](const BlockUnit& unit) {
    return unit.type == OpType::kGemm || unit.type == OpType::kAttention;
  });
  if (!one) return {};
  return {static_cast<size_t>(first - units.begin()), static_cast<size_t>(last - units.begin())};
}

}  // namespace

TrainingPass find_training_pass(const std::vector<BlockUnit>& units,
                                std::vector<SequenceBlock> blocks) {
  const OptimizerRun optimizer = optimizer_run(units);
  if (optimizer.begin == optimizer.end) return {};
  std::sort(blocks.begin(), blocks.end(),
            [](const SequenceBlock& a, const SequenceBlock& b) { return a.begin < b.begin; });
  TrainingPass pass;
  pass.phase.assign(units.size(), LevelPhase::kNone);
  const auto tell = [&pass](size_t begin, size_t end, LevelPhase phase) {
    std::fill(pass.phase.begin() + static_cast<std::ptrdiff_t>(begin),
              pass.phase.begin() + static_cast<std::ptrdiff_t>(end), phase);
  };
  tell(optimizer.begin, optimizer.end, LevelPhase::kOptimizer);
  const size_t half = blocks.size() / 2;
  bool in_pairs = half > 0 && blocks.size() % 2 == 0 && blocks.back().end <= optimizer.begin;
  for (size_t k = 0; k < half; ++k) {
    in_pairs = in_pairs && blocks[k].layers == blocks[blocks.size() - 1 - k].layers;
  }
  if (!in_pairs) return pass;
  for (size_t k = 0; k < half; ++k) {
    pass.mirrored.push_back({blocks[k], blocks[blocks.size() - 1 - k]});
  }
  tell(blocks.front().begin, blocks[half - 1].end, LevelPhase::kForward);
  tell(blocks[half].begin, blocks.back().end, LevelPhase::kBackward);
  return pass;
}

}  // namespace assay
