#include "diff/side.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/random.h"
#include "base/shift.h"

namespace assay {
namespace {

// Repeat of every run: the n-th run of a rank belongs to repeat n.
std::vector<uint32_t> repeat_of_runs(const std::vector<DiffRun>& runs) {
  std::map<int64_t, uint32_t> seen;
  uint32_t unranked = 0;
  std::vector<uint32_t> repeat;
  for (const DiffRun& run : runs) {
    repeat.push_back(run.rank ? seen[*run.rank]++ : unranked++);
  }
  return repeat;
}

using RunIteration = std::pair<uint32_t, int32_t>;  // repeat, iteration

struct Blocks {
  BlockKind kind = BlockKind::kIterations;
  std::map<RunIteration, uint32_t> of;
  uint32_t count = 0;
  uint64_t repeats = 0;
};

Blocks make_blocks(const std::vector<DiffRun>& runs, const std::vector<uint32_t>& repeat) {
  Blocks blocks;
  for (size_t r = 0; r < runs.size(); ++r) {
    blocks.repeats = std::max<uint64_t>(blocks.repeats, repeat[r] + 1);
    for (const DiffSample& sample : runs[r].samples) blocks.of[{repeat[r], sample.iteration}] = 0;
  }
  if (blocks.repeats > 1) {
    blocks.kind = BlockKind::kRuns;
    for (auto& [key, block] : blocks.of) block = key.first;
    blocks.count = static_cast<uint32_t>(blocks.repeats);
    return blocks;
  }
  const EvenBlocks even = EvenBlocks::of_few(blocks.of.size());
  size_t i = 0;
  for (auto& [key, block] : blocks.of) block = static_cast<uint32_t>(even.of(i++));
  blocks.count = static_cast<uint32_t>(even.count());
  return blocks;
}

class LevelMerger {
 public:
  explicit LevelMerger(DiffSideLevel& level) : level_(level) {}

  void add(const DiffLevelRun& run, const std::vector<uint32_t>& block_of_sample) {
    std::vector<uint32_t> ids;
    for (const DiffItem& item : run.items) ids.push_back(id_of(item));
    for (size_t s = 0; s < run.samples.size(); ++s) {
      for (const DiffEntry& entry : run.samples[s]) {
        add_cost(ids[entry.item], block_of_sample[s], entry.cost);
      }
    }
    if (!level_.sequence.empty()) return;
    for (uint32_t item : run.sequence) level_.sequence.push_back(ids[item]);
  }

 private:
  uint32_t id_of(const DiffItem& item) {
    const auto [place, is_new] =
        ids_.try_emplace(item.name, static_cast<uint32_t>(level_.items.size()));
    if (is_new) {
      level_.items.push_back(item);
      level_.sums.emplace_back();
      level_.blocks.emplace_back();
    }
    return place->second;
  }

  void add_cost(uint32_t id, uint32_t block, const DiffCost& cost) {
    level_.sums[id].add(cost);
    std::vector<BlockCost>& blocks = level_.blocks[id];
    const auto place =
        std::lower_bound(blocks.begin(), blocks.end(), block,
                         [](const BlockCost& b, uint32_t wanted) { return b.block < wanted; });
    if (place != blocks.end() && place->block == block) {
      place->cost.add(cost);
    } else {
      blocks.insert(place, {block, cost});
    }
  }

  DiffSideLevel& level_;
  std::unordered_map<std::string, uint32_t> ids_;
};

void add_metric(const DiffMetricSeries& series, uint32_t repeat, const Blocks& blocks,
                std::vector<DiffSideMetric>& metrics) {
  auto place = std::find_if(metrics.begin(), metrics.end(),
                            [&](const DiffSideMetric& m) { return m.key == series.key; });
  if (place == metrics.end()) {
    metrics.push_back({.key = series.key,
                       .label = series.label,
                       .unit = series.unit,
                       .block_sums = std::vector<double>(blocks.count, 0.0),
                       .block_counts = std::vector<uint64_t>(blocks.count, 0),
                       .per_run = series.per_run});
    place = metrics.end() - 1;
  }
  for (size_t i = 0; i < series.values.size(); ++i) {
    const auto block = blocks.of.find({repeat, series.iterations[i]});
    if (!std::isfinite(series.values[i]) || block == blocks.of.end()) continue;
    place->block_sums[block->second] += series.values[i];
    ++place->block_counts[block->second];
  }
}

void finish_metric(DiffSideMetric& metric) {
  const double sum = std::accumulate(metric.block_sums.begin(), metric.block_sums.end(), 0.0);
  metric.n = std::accumulate(metric.block_counts.begin(), metric.block_counts.end(), uint64_t{0});
  metric.mean = metric.n == 0 ? std::nan("") : sum / static_cast<double>(metric.n);
}

int64_t rounded_mean(int64_t sum, uint64_t n) {
  if (n == 0) return 0;
  const auto count = static_cast<int64_t>(n);
  return (sum + count / 2) / count;  // times are never negative
}

}  // namespace

std::string_view diff_level_name(DiffLevelKind kind) {
  switch (kind) {
    case DiffLevelKind::kPart:
      return "parts";
    case DiffLevelKind::kOperation:
      return "operations";
    case DiffLevelKind::kKernel:
      return "kernels";
    case DiffLevelKind::kChain:
      break;
  }
  return "chains";
}

DiffSide make_side(const std::vector<DiffRun>& runs) {
  DiffSide side;
  const std::vector<uint32_t> repeat = repeat_of_runs(runs);
  const Blocks blocks = make_blocks(runs, repeat);
  side.runs = runs.size();
  side.repeats = blocks.repeats;
  side.iterations = blocks.of.size();
  side.block_kind = blocks.kind;
  side.block_samples.assign(blocks.count, 0);
  side.block_times.assign(blocks.count, 0);
  std::vector<LevelMerger> mergers;
  for (DiffSideLevel& level : side.levels) mergers.emplace_back(level);
  side.repeat_files.resize(blocks.repeats);
  for (size_t r = 0; r < runs.size(); ++r) {
    std::string& file = side.repeat_files[repeat[r]];
    if (file.empty()) file = runs[r].file;
    std::vector<uint32_t> block_of_sample;
    for (const DiffSample& sample : runs[r].samples) {
      const uint32_t block = blocks.of.at({repeat[r], sample.iteration});
      block_of_sample.push_back(block);
      ++side.block_samples[block];
      side.block_times[block] += sample.time_ns;
      side.time_sum_ns += sample.time_ns;
      side.content_hash =
          mix_seeds(side.content_hash, static_cast<uint64_t>(sample.time_ns) + block);
    }
    side.samples += runs[r].samples.size();
    for (size_t l = 0; l < kDiffLevels; ++l) mergers[l].add(runs[r].levels[l], block_of_sample);
    for (const DiffMetricSeries& series : runs[r].metrics) {
      add_metric(series, repeat[r], blocks, side.metrics);
    }
  }
  for (DiffSideMetric& metric : side.metrics) finish_metric(metric);
  side.time_ns = rounded_mean(side.time_sum_ns, side.samples);
  return side;
}

std::vector<MeanCost> mean_costs(const DiffSideLevel& level, uint64_t samples, int64_t mean_ns) {
  std::vector<MeanCost> costs(level.items.size());
  if (samples == 0) return costs;
  const auto n = static_cast<int64_t>(samples);
  struct Cell {
    int64_t* value;
    int64_t remainder;
    const std::string* name;
  };
  std::vector<Cell> cells;
  int64_t missing = mean_ns;
  for (size_t i = 0; i < costs.size(); ++i) {
    const auto add = [&](int64_t sum, int64_t& value) {
      value = sum / n;
      missing -= value;
      if (sum % n != 0) cells.push_back({&value, sum % n, &level.items[i].name});
    };
    add(level.sums[i].busy_ns, costs[i].busy_ns);
    add(level.sums[i].idle_ns, costs[i].idle_ns);
  }
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    if (a.remainder != b.remainder) return a.remainder > b.remainder;
    return *a.name < *b.name;
  });
  for (size_t i = 0; i < cells.size() && missing > 0; ++i, --missing) ++*cells[i].value;
  return costs;
}

}  // namespace assay
