#include "throughput/physics.h"

#include <algorithm>
#include <cmath>

#include "records/precision.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

constexpr double kLayerSeconds = 1e-5;
constexpr double kHostSeconds = 1e-5;
constexpr double kOnceSeconds = 0.01;
constexpr double kUsableMemory = 0.9;
// Shares that rows of equal lengths do not determine: the prompt's part of the attention term, and
// of the compute cost. Chosen on 580 rows of Llama-3.1-8B and Qwen3-32B in NVIDIA's AIConfigurator
// (measured on GPUs), at input over output from 1/2 to 80, relative to rows of equal lengths. With
// all of the attention and half of the compute, the base was off by 0.36 in logarithms in the
// median and 1.14 at the 90th percentile. With these values it is off by 0.04 and 0.16.
constexpr double kPromptAttention = 0.03;
constexpr double kPromptCompute = 0.9;

// Peak of these units in TFLOP/s (or TOP/s); 0 = not in the specifications.
double told_peak(MatrixUnits units, const HardwareFacts& hardware) {
  switch (units) {
    case MatrixUnits::kFp32:
      return hardware.fp32_tflops;
    case MatrixUnits::k16Bit:
      return hardware.tflops;
    case MatrixUnits::kFp8:
      return hardware.fp8_tflops;
    case MatrixUnits::kInt8:
      return hardware.int8_tops;
    case MatrixUnits::kFp4:
      return hardware.fp4_tflops;
  }
  return 0;
}

}  // namespace

double weights_touched(const ModelFacts& model, double sequences) {
  if (model.active_b >= model.parameters_b || model.experts <= model.experts_used)
    return model.parameters_b;
  const double expert =
      (model.parameters_b - model.active_b) / (model.experts - model.experts_used);
  const double shared = model.active_b - model.experts_used * expert;
  const double untouched = std::pow(1 - model.experts_used / model.experts, sequences);
  return shared + model.experts * expert * (1 - untouched);
}

bool batch_is_chunk(const BenchRow& row) { return row.framework == "llama.cpp"; }

bool peak_is_known(const BenchRow& row, const HardwareFacts& hardware) {
  return told_peak(row.precision.units, hardware) > 0;
}

double peak_tflops(const BenchRow& row, const HardwareFacts& hardware) {
  const double told = told_peak(row.precision.units, hardware);
  return told > 0 ? told : hardware.tflops;
}

double kv_gb_per_token(const BenchRow& row, const ModelFacts& model) {
  return model.kv_gb_per_token() * (row.precision.kv_bytes / 2);
}

double sequences_in_memory(const BenchRow& row, const ModelFacts& model,
                           const HardwareFacts& hardware) {
  const double memory = row.devices * hardware.memory_gb;
  const double weights_gb = row.precision.weight_bytes * model.parameters_b;
  const double free = std::max(kUsableMemory * memory - weights_gb, kLeastFreeMemory * memory);
  return free / (kv_gb_per_token(row, model) * (row.in_len + row.out_len));
}

PhysicsTerms physics_terms(const BenchRow& row, const ModelFacts& model,
                           const HardwareFacts& hardware) {
  const double in = row.in_len;
  const double out = row.out_len;
  const double sequences = sequences_of(row);
  const double gb_per_s = hardware.bandwidth_tb_s * 1000 * row.devices;
  const double tflops = peak_tflops(row, hardware) * row.devices;
  const double kv_gb = kv_gb_per_token(row, model);
  const double weights_s =
      row.precision.weight_bytes * weights_touched(model, sequences) / gb_per_s;
  const double token_s = 2 * model.active_b / 1000 / tflops;
  const double overfull = std::max(0.0, sequences / sequences_in_memory(row, model, hardware) - 1);
  PhysicsTerms terms{};
  const auto set = [&terms](PhysicsTerm term, double s) { terms[static_cast<size_t>(term)] = s; };
  set(PhysicsTerm::kWeights, out * weights_s);
  set(PhysicsTerm::kKvCache, out * sequences * kv_gb * (in + out / 2) / gb_per_s);
  set(PhysicsTerm::kCompute, out * sequences * token_s);
  set(PhysicsTerm::kPrefill, in * sequences * token_s);
  set(PhysicsTerm::kLayers, out * model.layers * kLayerSeconds);
  if (row.devices > 1) {
    set(PhysicsTerm::kCommunication,
        (in + out) / 2 * model.layers * sequences * model.hidden * 2 / 1e9 / hardware.link_gb_s);
  }
  if (batch_is_chunk(row)) set(PhysicsTerm::kChunks, in / row.batch * weights_s);
  set(PhysicsTerm::kHost, out * sequences * kHostSeconds);
  set(PhysicsTerm::kHops, out * model.layers * kLayerSeconds * std::log2(row.devices));
  set(PhysicsTerm::kWaves, out * weights_s * overfull);
  set(PhysicsTerm::kOnce, kOnceSeconds);
  // Reading the context during decoding costs far more than the parallel computation of the prompt.
  const double pairs =
      kPromptAttention * in * in + (1 - kPromptAttention) * out * (in + out / 2) / 1.5;
  set(PhysicsTerm::kAttention, sequences * pairs * model.layers * model.hidden * 4 / 1e12 / tflops);
  return terms;
}

const PhysicsTerms& fixed_coefficients() {
  static constexpr PhysicsTerms kFixed = {
      1, 1, 1 - kPromptCompute, kPromptCompute, 12, 30, 4, 4, 1, 1, 0, 100};
  return kFixed;
}

double equivalent_latency_s(const BenchRow& row) {
  return (row.in_len + row.out_len) * sequences_of(row) / row.tokens_per_s;
}

}  // namespace assay
