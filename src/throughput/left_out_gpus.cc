// Problem: for a GPU without rows, the better predictor differs between tables: the vendor's
// nearest GPU on LLM-Inference-Bench, the process on AIConfigurator's. The process's own deviation
// does not show the error of the combination.
//
// Method: every GPU of the rows is held out, in closed form (gp.h). Its rows are predicted by the
// process, by its nearest sibling times the ratio of data sheets, and by that sibling times the
// analytical ratio. The weights with the minimum error are used, and their errors give the
// interval.
//
// Effect: docs/measured/throughput_llm_inference_bench.md.

#include "throughput/left_out_gpus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "throughput/conformal.h"
#include "throughput/data_sheets.h"

namespace assay {
namespace {

constexpr int kSteps = 4;            // weights are in quarters
constexpr double kPooledBlocks = 3;  // weight of all blocks against those of the engine
constexpr size_t kRowsOfBlock = 32;  // maximum rows predicted per GPU and engine
constexpr double kFullBlock = 10;    // rows; a block with fewer counts in proportion
constexpr size_t kFewestToWeigh = 2;
constexpr double kFewestToMeasure = 8;
// Factor on the largest error, if all blocks together do not reach the share.
constexpr double kBeyondLargest = 1.25;

std::vector<SiblingWeights> candidates() {
  std::vector<SiblingWeights> out;
  for (int sheet = 0; sheet <= kSteps; ++sheet) {
    for (int physics = 0; sheet + physics <= kSteps; ++physics)
      out.push_back({static_cast<double>(sheet) / kSteps, static_cast<double>(physics) / kSteps});
  }
  return out;
}

double missed_by(const GpuMiss& miss, const SiblingWeights& weights) {
  return (1 - weights.sum()) * miss.process + weights.by_sheet * miss.by_sheet +
         weights.by_physics * miss.by_physics;
}

using Blocks = std::map<std::string, std::vector<const GpuMiss*>>;

Blocks by_block(const std::vector<GpuMiss>& misses) {
  Blocks blocks;
  for (const GpuMiss& miss : misses) blocks[miss.block].push_back(&miss);
  return blocks;
}

double mean_miss(const std::vector<const GpuMiss*>& block, const SiblingWeights& weights) {
  double sum = 0;
  for (const GpuMiss* miss : block) sum += std::abs(missed_by(*miss, weights));
  return sum / static_cast<double>(block.size());
}

double block_weight(double rows) { return std::min(1.0, rows / kFullBlock); }

// Weights for an engine; for all engines if it is empty.
SiblingWeights best_weights(const Blocks& blocks, const std::string& engine) {
  SiblingWeights best;
  double least = std::numeric_limits<double>::infinity();
  for (const SiblingWeights& tried : candidates()) {
    double own = 0, all = 0, weight = 0;
    for (const auto& [name, block] : blocks) {
      const double counts = block_weight(static_cast<double>(block.size()));
      const double miss = counts * mean_miss(block, tried);
      all += miss;
      weight += counts;
      if (block.front()->engine == engine) own += miss;
    }
    const double total = own + kPooledBlocks * all / weight;
    if (total >= least - 1e-12) continue;
    least = total;
    best = tried;
  }
  return best;
}

std::vector<size_t> evenly(const std::vector<size_t>& all) {
  std::vector<size_t> some;
  const size_t count = std::min(all.size(), kRowsOfBlock);
  for (size_t k = 0; k < count; ++k) some.push_back(all[k * all.size() / count]);
  return some;
}

class LeavingOut {
 public:
  LeavingOut(const LearntRows& learnt, const FactBook& facts) : learnt_(learnt), lookup_(facts) {
    for (const BenchRow* row : learnt.rows)
      note_gpu(lookup_.hardware(row->hardware), row->hardware, measured_[learnt.engine_key(*row)]);
  }

  // Appends the errors of held-out rows. `members`: all rows of a GPU, or those under an engine.
  void miss(const std::vector<size_t>& members, std::vector<GpuMiss>& out) {
    std::map<std::string, std::vector<size_t>> by_key;  // indices into members
    for (size_t k = 0; k < members.size(); ++k)
      by_key[learnt_.engine_key(row(members[k]))].push_back(k);
    const HardwareFacts& own = *lookup_.hardware(row(members.front()).hardware);
    std::vector<size_t> asked;
    std::vector<const MeasuredGpu*> siblings;
    std::vector<BenchRow> at, instead;
    for (const auto& [key, places] : by_key) {
      const MeasuredGpu* sibling = nearest_sibling(own, measured_.at(key));
      if (sibling == nullptr) continue;
      for (const size_t place : evenly(places)) {
        asked.push_back(place);
        siblings.push_back(sibling);
        at.push_back(row(members[place]));
        instead.push_back(at.back());
        instead.back().hardware = sibling->name;
      }
    }
    if (asked.empty()) return;
    const LearntRows::Placed own_place = learnt_.place(at);
    const LearntRows::Placed other = learnt_.place(instead);
    std::vector<KernelPoint> points = own_place.points;
    points.insert(points.end(), other.points.begin(), other.points.end());
    const std::vector<double> means = learnt_.process->means_without(members, points);
    const double sign = learnt_.value_is_time ? -1 : 1;
    for (size_t i = 0; i < asked.size(); ++i) {
      const double value = learnt_.log_value[members[asked[i]]];
      const double above_process = sign * (value - own_place.log_base[i] - means[i]);
      const double above_sibling = sign * (value - other.log_base[i] - means[asked.size() + i]);
      const double sheets =
          std::log(own.*learnt_.goes_with / siblings[i]->facts->*learnt_.goes_with);
      const double physics = sign * (own_place.log_base[i] - other.log_base[i]);
      out.push_back({members[asked[i]], vendor_of(own), at[i].framework,
                     own.name + "|" + at[i].framework + "|" + at[i].variant.words, above_process,
                     above_sibling - sheets, above_sibling - physics});
    }
  }

 private:
  const BenchRow& row(size_t i) const { return *learnt_.rows[i]; }

  const LearntRows& learnt_;
  FactLookup lookup_;
  std::map<std::string, MeasuredGpus> measured_;
};

}  // namespace

std::string_view unmeasured_kind_name(UnmeasuredKind kind) {
  return kind == UnmeasuredKind::kNewGpu ? "new GPU" : "GPU new under the engine";
}

const SiblingWeights& SiblingRule::weights(const std::string& vendor,
                                           const std::string& engine) const {
  const auto own = of_engine.find(vendor + "|" + engine);
  if (own != of_engine.end()) return own->second;
  const auto all = of_vendor.find(vendor);
  return all == of_vendor.end() ? otherwise : all->second;
}

double SiblingRule::missed(const GpuMiss& miss) const {
  return missed_by(miss, weights(miss.vendor, miss.engine));
}

GpuInterval gpu_interval(const std::vector<double>& missed, const std::vector<GpuMiss>& whose) {
  GpuInterval out;
  if (whose.empty()) return out;
  std::map<std::string, double> rows;
  for (const GpuMiss& miss : whose) rows[miss.block] += 1;
  for (const auto& [block, count] : rows) out.blocks += block_weight(count);
  out.measured = out.blocks >= kFewestToMeasure;
  std::vector<std::pair<double, double>> weighed;  // absolute error, weight of the row
  for (size_t i = 0; i < whose.size(); ++i) {
    const double count = rows[whose[i].block];
    weighed.emplace_back(std::abs(missed[i]), block_weight(count) / count);
  }
  std::sort(weighed.begin(), weighed.end());
  out.half_width = weighed.back().first * kBeyondLargest;
  double sum = 0;
  for (const auto& [miss, weight] : weighed) {
    sum += weight;
    if (sum < kHeldShare * (out.blocks + 1) - 1e-9) continue;
    out.half_width = miss;
    break;
  }
  return out;
}

SiblingRule sibling_rule(const std::vector<GpuMiss>& misses, const SiblingWeights& otherwise) {
  SiblingRule rule;
  rule.otherwise = otherwise;
  std::map<std::string, std::vector<GpuMiss>> by_vendor;
  for (const GpuMiss& miss : misses) by_vendor[miss.vendor].push_back(miss);
  for (const auto& [vendor, of_vendor] : by_vendor) {
    const Blocks blocks = by_block(of_vendor);
    if (blocks.size() < kFewestToWeigh) continue;
    rule.of_vendor[vendor] = best_weights(blocks, "");
    std::set<std::string> engines;
    for (const GpuMiss& miss : of_vendor) engines.insert(miss.engine);
    for (const std::string& engine : engines)
      rule.of_engine[vendor + "|" + engine] = best_weights(blocks, engine);
  }
  std::vector<double> missed;
  for (const GpuMiss& miss : misses) missed.push_back(rule.missed(miss));
  rule.interval = gpu_interval(missed, misses);
  return rule;
}

std::vector<GpuMiss> left_out_gpus(const LearntRows& learnt, const FactBook& facts,
                                   UnmeasuredKind kind) {
  FactLookup lookup(facts);
  // Keyed by the name in the specifications, because tables may write a GPU in two ways.
  std::map<std::string, std::map<std::string, std::vector<size_t>>> by_gpu;  // by GPU, then engine
  for (size_t i = 0; i < learnt.rows.size(); ++i) {
    const BenchRow& row = *learnt.rows[i];
    by_gpu[lookup.hardware(row.hardware)->name][row.framework].push_back(i);
  }
  LeavingOut leaving(learnt, facts);
  std::vector<GpuMiss> out;
  for (const auto& [gpu, engines] : by_gpu) {
    std::vector<size_t> all;
    for (const auto& [engine, rows] : engines) {
      all.insert(all.end(), rows.begin(), rows.end());
      if (kind == UnmeasuredKind::kNewUnderEngine && engines.size() > 1) leaving.miss(rows, out);
    }
    if (kind == UnmeasuredKind::kNewGpu && by_gpu.size() > 1) leaving.miss(all, out);
  }
  return out;
}

}  // namespace assay
