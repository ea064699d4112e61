#pragma once

// How much the nearest GPU of the vendor should count beside the process where a GPU has no rows
// under an engine (unmeasured_gpu.h), and how far the answer is then off: found by leaving out the
// GPUs that the rows have, one at a time.

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/gp/gp.h"
#include "throughput/unmeasured_gpu.h"

namespace assay {

// What the rows know of a GPU that has none under the engine.
enum class UnmeasuredKind : uint8_t { kNewGpu, kNewUnderEngine };
inline constexpr size_t kUnmeasuredKinds = 2;
// "new GPU", "GPU new under the engine"
std::string_view unmeasured_kind_name(UnmeasuredKind kind);
// known: rows of it ran under another engine.
constexpr UnmeasuredKind unmeasured_kind(bool known) {
  return known ? UnmeasuredKind::kNewUnderEngine : UnmeasuredKind::kNewGpu;
}

// A row whose GPU was left out, as was told of it in three ways: logarithms of how much faster it
// ran.
struct GpuMiss {
  size_t row = 0;  // of those learnt from
  std::string vendor;
  std::string engine;
  std::string block;  // GPU, engine and words
  double process = 0;
  double by_sheet = 0;
  double by_physics = 0;
};

// Holds nine of ten blocks, one more standing for the one to come.
struct GpuInterval {
  double half_width = 0;  // in logarithms; 0: nothing was left out
  double blocks = 0;      // that it is from; one of few rows is part of one
  bool measured = false;  // else too few blocks say so

  // Of a point whose own half width is `own`: too few left-out GPUs, and a point that is new in
  // more than its GPU, make nothing narrower.
  bool replaces(bool only_gpu_is_new) const { return measured && only_gpu_is_new; }
  double half_width_of(double own, bool only_gpu_is_new) const {
    return replaces(only_gpu_is_new) ? half_width : std::max(half_width, own);
  }
};
// missed: per row of `whose`, in logarithms.
GpuInterval gpu_interval(const std::vector<double>& missed, const std::vector<GpuMiss>& whose);

struct SiblingRule {
  SiblingWeights otherwise;  // of a vendor that nothing could be left out of
  std::map<std::string, SiblingWeights> of_vendor;
  std::map<std::string, SiblingWeights> of_engine;  // "vendor|engine"
  GpuInterval interval;

  const SiblingWeights& weights(const std::string& vendor, const std::string& engine) const;
  double missed(const GpuMiss& miss) const;
};
using SiblingRules = std::array<SiblingRule, kUnmeasuredKinds>;

// Weights in quarters, per vendor: those with the least mean miss over its blocks, those of the
// engine counting one each and all together three more. From two blocks on; else `otherwise`: what
// another vendor's GPUs need says nothing (Intel's and AMD's were told worse by NVIDIA's).
SiblingRule sibling_rule(const std::vector<GpuMiss>& misses, const SiblingWeights& otherwise);

// Rows that a process was learnt from, in its order.
struct LearntRows {
  const GaussianProcess* process = nullptr;
  std::vector<const BenchRow*> rows;
  std::vector<double> log_value;  // measured: what the process tells plus the base
  bool value_is_time = false;     // else a speed
  double HardwareFacts::* goes_with = nullptr;
  // Rows that can be siblings under one engine have the same.
  std::function<std::string(const BenchRow&)> engine_key;
  struct Placed {
    std::vector<KernelPoint> points;
    std::vector<double> log_base;
  };
  std::function<Placed(const std::vector<BenchRow>&)> place;
};
std::vector<GpuMiss> left_out_gpus(const LearntRows& learnt, const FactBook& facts,
                                   UnmeasuredKind kind);

}  // namespace assay
