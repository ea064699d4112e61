#pragma once

// For a GPU without rows under an engine (unmeasured_gpu.h): the weight of the vendor's nearest GPU
// against the Gaussian process, and the error of the result. Measured by holding out the GPUs of
// the rows, one at a time.

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

// What is new about a GPU without rows under the engine.
enum class UnmeasuredKind : uint8_t { kNewGpu, kNewUnderEngine };
inline constexpr size_t kUnmeasuredKinds = 2;
// "new GPU", "GPU new under the engine"
std::string_view unmeasured_kind_name(UnmeasuredKind kind);
// known: the GPU has rows under another engine.
constexpr UnmeasuredKind unmeasured_kind(bool known) {
  return known ? UnmeasuredKind::kNewUnderEngine : UnmeasuredKind::kNewGpu;
}

// A row of a held-out GPU and three predictions of it, as logarithms of the ratio of measured to
// predicted speed.
struct GpuMiss {
  size_t row = 0;  // index into LearntRows::rows
  std::string vendor;
  std::string engine;
  std::string block;  // "GPU|engine|words of the variant"
  double process = 0;
  double by_sheet = 0;
  double by_physics = 0;
};

// Interval that contains nine of ten blocks, with one block added for the next.
struct GpuInterval {
  double half_width = 0;  // in logarithms; 0 = nothing was held out
  double blocks = 0;      // weight of the blocks; one with few rows counts in part
  bool measured = false;  // false: too few blocks

  // `own`: half width of the point's own interval. This one replaces it only if enough GPUs were
  // held out and only the GPU is new; otherwise it can only widen it.
  bool replaces(bool only_gpu_is_new) const { return measured && only_gpu_is_new; }
  double half_width_of(double own, bool only_gpu_is_new) const {
    return replaces(only_gpu_is_new) ? half_width : std::max(half_width, own);
  }
};
// missed: log error per element of `whose`.
GpuInterval gpu_interval(const std::vector<double>& missed, const std::vector<GpuMiss>& whose);

struct SiblingRule {
  SiblingWeights otherwise;  // for vendors without held-out GPUs
  std::map<std::string, SiblingWeights> of_vendor;
  std::map<std::string, SiblingWeights> of_engine;  // "vendor|engine"
  GpuInterval interval;

  const SiblingWeights& weights(const std::string& vendor, const std::string& engine) const;
  double missed(const GpuMiss& miss) const;
};
using SiblingRules = std::array<SiblingRule, kUnmeasuredKinds>;

// Weights in quarters with the minimum mean error over blocks, per vendor and per engine of the
// vendor. Blocks of the engine count one each, and all blocks of the vendor together count three.
// Needs two blocks or more; else `otherwise`. GPUs of other vendors are no substitute: NVIDIA's
// made predictions for Intel's and AMD's worse.
SiblingRule sibling_rule(const std::vector<GpuMiss>& misses, const SiblingWeights& otherwise);

// The training rows of a process, in its order.
struct LearntRows {
  const GaussianProcess* process = nullptr;
  std::vector<const BenchRow*> rows;
  std::vector<double> log_value;  // measured: residual plus base
  bool value_is_time = false;     // a latency; otherwise a speed
  double HardwareFacts::* goes_with = nullptr;
  // Siblings must have rows with the same key.
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
