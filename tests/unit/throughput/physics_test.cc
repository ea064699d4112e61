#include "throughput/physics.h"

#include <gtest/gtest.h>

#include "throughput/dataset.h"

namespace assay {
namespace {

double at(const PhysicsTerms& terms, PhysicsTerm term) { return terms[static_cast<size_t>(term)]; }

// Round numbers, so that every term can be worked out on paper.
ModelFacts model() {
  return {.name = "m",
          .parameters_b = 10,
          .active_b = 10,
          .layers = 20,
          .kv_heads = 5,
          .head_dim = 100,
          .hidden = 1000};
}

HardwareFacts hardware() {
  return {.name = "h", .tflops = 100, .bandwidth_tb_s = 2, .memory_gb = 50, .link_gb_s = 100};
}

BenchRow row(double devices, double in, double out, double batch) {
  BenchRow r;
  r.framework = "engine";
  r.devices = devices;
  r.in_len = in;
  r.out_len = out;
  r.batch = batch;
  return r;
}

TEST(Physics, TermsByHandOnTwoDevices) {
  // 2 devices: 4,000 GB/s and 200 TFLOP/s. KV: 4 * 20 * 5 * 100 bytes = 4e-5 GB per token.
  const PhysicsTerms t = physics_terms(row(2, 200, 100, 8), model(), hardware());
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kWeights), 100 * 20.0 / 4000);
  // 100 steps, 8 sequences, 200 + 100/2 tokens of context.
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kKvCache), 100 * 8 * 4e-5 * 250 / 4000);
  // 2 * 10e9 operations per token: 1e-4 s at 200 TFLOP/s.
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kCompute), 100 * 8 * 1e-4);
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kPrefill), 200 * 8 * 1e-4);
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kLayers), 100 * 20 * 1e-5);
  // (200 + 100) / 2 tokens, 20 layers, 8 sequences of 1000 values of 2 bytes, 100 GB/s.
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kCommunication), 150.0 * 20 * 8 * 1000 * 2 / 1e9 / 100);
  EXPECT_EQ(at(t, PhysicsTerm::kChunks), 0);
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kHost), 100 * 8 * 1e-5);
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kHops), 100 * 20 * 1e-5 * 1);
  EXPECT_EQ(at(t, PhysicsTerm::kWaves), 0);
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kOnce), 0.01);
  // 0.03 * 200^2 + 0.97 * 100 * 250 / 1.5 pairs, 8 sequences, 20 layers, 1000 hidden, 4 operations.
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kAttention),
                   (1200 + 0.97 * 25000 / 1.5) * 8 * 20 * 1000 * 4 / 1e12 / 200);
}

TEST(Physics, MemoryOverflowMakesWaves) {
  // 0.9 * 50 - 20 = 25 GB free; 1000 tokens take 0.04 GB each sequence: 625 fit.
  EXPECT_DOUBLE_EQ(sequences_in_memory(row(1, 500, 500, 1250), model(), hardware()), 625);
  const PhysicsTerms t = physics_terms(row(1, 500, 500, 1250), model(), hardware());
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kWaves), 500 * 20.0 / 2000 * (1250.0 / 625 - 1));
}

TEST(Physics, PrecisionSetsTheBytesAndThePeak) {
  HardwareFacts h = hardware();
  h.fp8_tflops = 250;
  BenchRow r = row(1, 500, 500, 8);
  const PhysicsTerms wide = physics_terms(r, model(), h);
  r.precision = precision_of("fp8, kv fp8");
  const PhysicsTerms narrow = physics_terms(r, model(), h);
  EXPECT_DOUBLE_EQ(at(narrow, PhysicsTerm::kWeights), at(wide, PhysicsTerm::kWeights) / 2);
  EXPECT_DOUBLE_EQ(at(narrow, PhysicsTerm::kKvCache), at(wide, PhysicsTerm::kKvCache) / 2);
  EXPECT_DOUBLE_EQ(at(narrow, PhysicsTerm::kPrefill), at(wide, PhysicsTerm::kPrefill) / 2.5);
  // 45 - 10 GB free, 0.02 GB each sequence.
  EXPECT_DOUBLE_EQ(sequences_in_memory(r, model(), h), 1750);
  r.precision = precision_of("int8");  // no peak of it is known
  EXPECT_DOUBLE_EQ(at(physics_terms(r, model(), h), PhysicsTerm::kPrefill),
                   at(wide, PhysicsTerm::kPrefill));
}

TEST(Physics, AModelThatHardlyFitsKeepsAFiftiethOfTheMemory) {
  ModelFacts big = model();
  big.parameters_b = big.active_b = 30;
  EXPECT_DOUBLE_EQ(sequences_in_memory(row(1, 500, 500, 1), big, hardware()), 1.0 / 0.04);
}

TEST(Physics, ABatchTouchesMoreExpertsThanASequence) {
  ModelFacts experts = model();
  experts.active_b = 4;
  experts.experts = 8;
  experts.experts_used = 2;
  // An expert has (10 - 4) / 6 = 1, shared are 2. One sequence reads 2 + 2 = 4, two sequences
  // 2 + 8 * (1 - 0.75^2) = 5.5.
  const PhysicsTerms one = physics_terms(row(1, 100, 100, 1), experts, hardware());
  const PhysicsTerms two = physics_terms(row(1, 100, 100, 2), experts, hardware());
  EXPECT_DOUBLE_EQ(at(one, PhysicsTerm::kWeights), 100 * 2 * 4.0 / 2000);
  EXPECT_DOUBLE_EQ(at(two, PhysicsTerm::kWeights), 100 * 2 * 5.5 / 2000);
}

TEST(Physics, TheBatchSizeOfLlamaCppCutsThePromptIntoChunks) {
  BenchRow r = row(1, 100, 100, 25);
  r.framework = "llama.cpp";
  EXPECT_EQ(sequences_of(r), 1);
  const PhysicsTerms t = physics_terms(r, model(), hardware());
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kChunks), 4 * 20.0 / 2000);
  EXPECT_DOUBLE_EQ(at(t, PhysicsTerm::kHost), 100 * 1e-5);
}

}  // namespace
}  // namespace assay
