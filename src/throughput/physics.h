#pragma once

// Analytical lower bound of a run's latency, by term: reading weights and KV cache, computing,
// communicating, waiting. Latency is a sum of non-negative coefficients times these terms, and
// throughput follows. The residual is learned (gp.h).

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

enum class PhysicsTerm : uint8_t {
  kWeights,        // weights read once per step, for experts those that the batch touches
  kKvCache,        // KV cache read, with the context half grown
  kCompute,        // arithmetic of the generated tokens
  kPrefill,        // arithmetic of the prompt
  kLayers,         // fixed cost per layer and step
  kCommunication,  // activations exchanged, more than one device
  kChunks,         // weights read again per piece of the prompt (llama.cpp's batch size)
  kHost,           // host work per sequence and step
  kHops,           // latency of collectives: log2 of the devices, per layer and step
  kWaves,          // a batch with a KV cache larger than the memory is served in waves
  kOnce,           // fixed cost per run
  kAttention,      // square term of the prompt's attention
};
inline constexpr size_t kPhysicsTerms = 12;
using PhysicsTerms = std::array<double, kPhysicsTerms>;
std::string_view physics_term_name(PhysicsTerm term);

// Minimum share of a device's memory for sequences, even if the declared weights leave less.
inline constexpr double kLeastFreeMemory = 0.02;

// llama.cpp's batch size cuts the prompt into pieces.
bool batch_is_chunk(const BenchRow& row);
// 1e9 weights that one step of `sequences` tokens reads. That is the shared weights plus the
// experts that at least one token selects, if tokens select experts uniformly.
double weights_touched(const ModelFacts& model, double sequences);
// 10^12 operations per second of one device in the row's precision; 16-bit's where that of the
// precision is not known.
double peak_tflops(const BenchRow& row, const HardwareFacts& hardware);
bool peak_is_known(const BenchRow& row, const HardwareFacts& hardware);
// K and V of one token in the row's precision, all layers.
double kv_gb_per_token(const BenchRow& row, const ModelFacts& model);
// Sequences that fit with the weights in 0.9 of the memory.
double sequences_in_memory(const BenchRow& row, const ModelFacts& model,
                           const HardwareFacts& hardware);

// Seconds of every term with coefficient 1.
PhysicsTerms physics_terms(const BenchRow& row, const ModelFacts& model,
                           const HardwareFacts& hardware);
// The coefficients of the base.
const PhysicsTerms& fixed_coefficients();
// Latency equivalent to the row's throughput: (ii + oo) * sequences / throughput.
double equivalent_latency_s(const BenchRow& row);

}  // namespace assay
