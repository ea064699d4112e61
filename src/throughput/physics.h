#pragma once

// Analytical latency of a run, by term: reading weights and KV cache, computing, communicating,
// waiting. The latency is a sum of non-negative coefficients times these terms, and gives the
// throughput. A Gaussian process learns the residual (gp.h).

#include <array>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

enum class PhysicsTerm : uint8_t {
  kWeights,        // weights read once per step; only experts that the batch selects
  kKvCache,        // KV cache read, at half of the generated context
  kCompute,        // arithmetic of the generated tokens
  kPrefill,        // arithmetic of the prompt
  kLayers,         // fixed cost per layer and step
  kCommunication,  // activations exchanged, with more than one device
  kChunks,         // weights read again per piece of the prompt (llama.cpp's batch size)
  kHost,           // host work per sequence and step
  kHops,           // latency of collectives: log2 of the devices, per layer and step
  kWaves,          // a batch with a KV cache larger than the memory is served in waves
  kOnce,           // fixed cost per run
  kAttention,      // quadratic term of attention
};
inline constexpr size_t kPhysicsTerms = 12;
using PhysicsTerms = std::array<double, kPhysicsTerms>;

// Minimum share of a device's memory for sequences, even if the declared weights leave less.
inline constexpr double kLeastFreeMemory = 0.02;

// True for llama.cpp, where the batch size is the chunk size of the prompt.
bool batch_is_chunk(const BenchRow& row);
// 1e9 weights that one step of `sequences` tokens reads. That is the shared weights plus the
// experts that at least one token selects, if tokens select experts uniformly.
double weights_touched(const ModelFacts& model, double sequences);
// Peak of one device in the row's precision, in 10^12 operations per second; the 16-bit peak if
// that is unknown.
double peak_tflops(const BenchRow& row, const HardwareFacts& hardware);
bool peak_is_known(const BenchRow& row, const HardwareFacts& hardware);
// GB of K and V of one token over all layers, in the row's precision.
double kv_gb_per_token(const BenchRow& row, const ModelFacts& model);
// Sequences that fit with the weights in 0.9 of the memory.
double sequences_in_memory(const BenchRow& row, const ModelFacts& model,
                           const HardwareFacts& hardware);

// Seconds of each term with coefficient 1.
PhysicsTerms physics_terms(const BenchRow& row, const ModelFacts& model,
                           const HardwareFacts& hardware);
// The coefficients of the analytical base.
const PhysicsTerms& fixed_coefficients();
// Latency equivalent to the row's throughput: (ii + oo) * sequences / throughput.
double equivalent_latency_s(const BenchRow& row);

}  // namespace assay
