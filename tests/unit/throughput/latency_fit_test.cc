#include "throughput/latency_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace assay {
namespace {

BenchRow latency_row(double in_len, double out_len, double batch, double tokens_per_s = 1) {
  BenchRow row;
  row.hardware = "Intel PVC GPU";
  row.framework = "vLLM";
  row.model = "Qwen/Qwen2-7B";
  row.in_len = in_len;
  row.out_len = out_len;
  row.batch = batch;
  row.tokens_per_s = tokens_per_s;
  return row;
}

Reach reach_of(const std::vector<BenchRow>& rows) {
  Reach reach;
  for (const BenchRow& r : rows) reach.add(r);
  return reach;
}

// Batches 1 to 32, equal lengths 128 to 512.
Reach measured() {
  return reach_of({latency_row(128, 128, 1), latency_row(128, 128, 16), latency_row(128, 128, 32),
                   latency_row(512, 512, 1), latency_row(512, 512, 32)});
}

TEST(FitShares, AreNoneWithinTheRowsAndWholeAtTwiceTheLargest) {
  const auto batch_share = [](double batch) {
    return fit_shares(latency_row(256, 256, batch), measured()).batch;
  };
  EXPECT_EQ(batch_share(32), 0);
  EXPECT_EQ(batch_share(64), 1);
  EXPECT_EQ(batch_share(128), 0.5);
  EXPECT_EQ(batch_share(256), 0.25);
  EXPECT_NEAR(batch_share(48), 0.5849625007, 1e-9);  // log2(1.5)
  EXPECT_EQ(fit_shares(latency_row(256, 256, 64), measured()).length, 0);
}

TEST(FitShares, BatchAndLengthHaveTheirOwn) {
  const FitShares both = fit_shares(latency_row(1024, 1024, 128), measured());
  EXPECT_EQ(both.batch, 0.5);
  EXPECT_EQ(both.length, 1);
  EXPECT_EQ(fit_shares(latency_row(2048, 2048, 8), measured()).length, 0.5);
  EXPECT_EQ(fit_shares(latency_row(2048, 2048, 8), measured()).batch, 0);
}

TEST(FitShares, FadeIfTheRowsShowNothing) {
  // Below the shortest length: log2(128 / 96) = 0.415 of a doubling.
  EXPECT_NEAR(fit_shares(latency_row(96, 96, 64), measured()).batch, 0.5849625007, 1e-9);
  EXPECT_EQ(fit_shares(latency_row(64, 64, 64), measured()).batch, 0);
  // Lengths were equal in all rows.
  EXPECT_EQ(fit_shares(latency_row(512, 256, 64), measured()).batch, 0);
  // The length never varied: asked for there, then beside it.
  const Reach one_length =
      reach_of({latency_row(128, 128, 1), latency_row(128, 128, 2), latency_row(128, 128, 4),
                latency_row(128, 128, 8), latency_row(128, 128, 16)});
  EXPECT_EQ(fit_shares(latency_row(128, 128, 32), one_length).batch, 1);
  EXPECT_EQ(fit_shares(latency_row(256, 256, 32), one_length).batch, 0);
  EXPECT_EQ(fit_shares(latency_row(256, 256, 32), one_length).length, 0);
  EXPECT_EQ(fit_shares(latency_row(256, 256, 8), one_length).length, 0);
}

TEST(FitShares, FourRowsAreTooFewForFourTerms) {
  const std::vector<BenchRow> four = {latency_row(128, 128, 1), latency_row(128, 128, 16),
                                      latency_row(256, 256, 1), latency_row(256, 256, 16)};
  EXPECT_EQ(fit_shares(latency_row(256, 256, 32), reach_of(four)).batch, 0);
}

// 0.01 s per step, 20 us per token and sequence, 10 ns per token looked back on, 0.3 s once.
double seconds_of(const BenchRow& r) {
  return 0.01 * r.out_len + 2e-5 * (r.in_len + r.out_len) / 2 * r.batch +
         1e-8 * r.out_len * r.batch * (r.in_len + r.out_len / 2) + 0.3;
}

TEST(LatencyFits, FindTheSumThatMadeTheLatencies) {
  std::vector<BenchRow> rows;
  for (const double length : {128, 256, 512}) {
    for (const double batch : {1, 16, 32}) {
      BenchRow r = latency_row(length, length, batch);
      r.tokens_per_s = 2 * length * batch / seconds_of(r);
      rows.push_back(r);
    }
  }
  LatencyFits fits(rows, FactBook::built_in(), false);
  for (const BenchRow& point :
       {latency_row(512, 512, 64), latency_row(2048, 2048, 16), latency_row(1024, 1024, 256)}) {
    const double tokens = 2 * point.in_len * point.batch;
    EXPECT_NEAR(fits.log_throughput(point), std::log(tokens / seconds_of(point)), 1e-6);
  }
}

// Larger runs took less time: no sum of growing terms does, so the best is what is there once. Of
// five latencies the one that most agree on.
TEST(LatencyFits, NoTermIsNegative) {
  std::vector<BenchRow> rows;
  for (const double batch : {1, 2, 4, 8, 16})
    rows.push_back(latency_row(100, 100, batch, 200 * batch / (batch < 8 ? 2.0 : 1.9)));
  LatencyFits fits(rows, FactBook::built_in(), false);
  const double seconds = 200 * 64 / std::exp(fits.log_throughput(latency_row(100, 100, 64)));
  EXPECT_GT(seconds, 1.9);
  EXPECT_LE(seconds, 2.0);
}

// One sequence at two lengths: what is there once, what grows with the length and what grows with
// its square fit equally well two at a time. The later terms are left out, whatever the last
// digits.
TEST(LatencyFits, EquallyGoodSumsAreOrderedByTheirTerms) {
  std::mt19937_64 random(1);
  const auto noise = [&random] {
    return 1 + 0.1 * (static_cast<double>(random() >> 11) * 0x1p-53);
  };
  for (int table = 0; table < 50; ++table) {
    std::vector<BenchRow> rows;
    for (const double length : {128, 256}) {
      for (const double batch : {1, 16, 32}) {
        rows.push_back(latency_row(length, length, batch, 2 * length / (0.1 * length * noise())));
        rows.back().framework = "llama.cpp";
      }
    }
    std::vector<BenchRow> nearly = rows;
    nearly[table % 6].tokens_per_s *= 1 + 1e-12;
    BenchRow point = latency_row(1024, 1024, 32);
    point.framework = "llama.cpp";
    LatencyFits fits(rows, FactBook::built_in(), false);
    LatencyFits near_fits(nearly, FactBook::built_in(), false);
    EXPECT_NEAR(fits.log_throughput(point), near_fits.log_throughput(point), 1e-6);
  }
}

// The smallest piece of llama.cpp's prompt took 1 s, each further one 0.1 s.
TEST(LatencyFits, ChunksOfThePromptAreNotSequences) {
  std::vector<BenchRow> rows;
  for (const double batch : {1, 2, 4, 8, 16}) {
    BenchRow r = latency_row(64, 64, batch, 128 / (1 + 0.1 * 64 / batch));
    r.framework = "llama.cpp";
    rows.push_back(r);
  }
  LatencyFits fits(rows, FactBook::built_in(), false);
  BenchRow point = latency_row(64, 64, 32);
  point.framework = "llama.cpp";
  EXPECT_NEAR(fits.log_throughput(point), std::log(128 / 1.2), 1e-6);
}

// Qwen2-7B under vLLM on the PVC, batches up to 32 (LLM-Inference-Bench, BSD-3-Clause), and what an
// independent fit in Python with NumPy says of batch 64; measured were 478, 633 and 751.
TEST(LatencyFits, AgreeWithAnIndependentFitOfMeasuredRows) {
  constexpr double kMeasured[][3] = {
      {128, 1, 13.12128296},   {128, 16, 169.7716316},  {128, 32, 309.3320051},
      {256, 1, 25.51097864},   {256, 16, 294.1985253},  {256, 32, 470.9692169},
      {512, 1, 43.27521252},   {512, 16, 431.4268357},  {1024, 1, 68.52630952},
      {1024, 16, 532.3678223}, {1024, 32, 685.4424049}, {2048, 1, 93.06985619},
      {2048, 16, 551.1750969}, {2048, 32, 602.7347269}};
  std::vector<BenchRow> rows;
  for (const auto& [length, batch, tokens_per_s] : kMeasured)
    rows.push_back(latency_row(length, length, batch, tokens_per_s));
  for (const bool physics : {true, false}) {
    LatencyFits fits(rows, FactBook::built_in(), physics);
    EXPECT_NEAR(std::exp(fits.log_throughput(latency_row(128, 128, 64))), 495.049923, 1e-3);
    EXPECT_NEAR(std::exp(fits.log_throughput(latency_row(256, 256, 64))), 666.473006, 1e-3);
    EXPECT_NEAR(std::exp(fits.log_throughput(latency_row(512, 512, 64))), 778.98938, 1e-3);
  }
}

std::vector<double> batches_of(const std::vector<BenchRow>& rows) {
  std::vector<double> out;
  for (const BenchRow& r : rows) out.push_back(r.batch);
  return out;
}

TEST(WithoutLargest, HalvesEachConfigurationByItsOwnLargest) {
  std::vector<BenchRow> rows;
  for (int length = 1; length <= 9; ++length) {
    for (const double batch : {1, 16, 32}) rows.push_back(latency_row(length, length, batch));
  }
  BenchRow other = latency_row(100, 100, 8);
  other.devices = 2;  // one batch only: it stays
  rows.push_back(other);
  const WithoutLargest nested = without_largest(rows, HeldOut::kLargerBatch);
  EXPECT_EQ(batches_of(nested.outer), std::vector<double>(9, 32.0));
  EXPECT_EQ(nested.inner.size(), 19U);
}

TEST(WithoutLargest, FewRowsAreComparedWithTheLargestOfAll) {
  std::vector<BenchRow> rows = {latency_row(64, 64, 1), latency_row(64, 64, 8)};
  rows.push_back(latency_row(64, 64, 4));
  rows.back().devices = 2;
  rows.push_back(latency_row(64, 64, 2));
  rows.back().devices = 4;
  const WithoutLargest nested = without_largest(rows, HeldOut::kLargerBatch);
  EXPECT_EQ(batches_of(nested.outer), std::vector<double>({8}));
  EXPECT_EQ(batches_of(nested.inner), std::vector<double>({1, 4, 2}));
}

TEST(WithoutLargest, LengthsAreInputAndOutputTogether) {
  std::vector<BenchRow> rows;
  for (int batch = 1; batch <= 9; ++batch) {
    rows.push_back(latency_row(300, 100, batch));
    rows.push_back(latency_row(100, 800, batch));
  }
  const WithoutLargest nested = without_largest(rows, HeldOut::kLongerLength);
  EXPECT_EQ(nested.outer.size(), 9U);
  EXPECT_EQ(nested.outer.front().out_len, 800);
}

// The process misses by 0.2, the fit by -0.1: weights 0.01 and 0.04 over 0.05, and -0.04 is left.
TEST(ScaleBeyond, WeightsAreInverseToTheSquaredMisses) {
  const ConformalScale scale = scale_beyond(std::vector<BeyondMiss>(9, {0.2, 0.1, -0.1, 1}));
  EXPECT_NEAR(scale.fit_weight, 0.8, 1e-12);
  EXPECT_NEAR(scale.scale, 2, 1e-12);
  EXPECT_NEAR(scale.blended_scale, 0.4, 1e-12);
}

// Half of 0.8 of the fit: 0.6 * 0.2 - 0.4 * 0.1 = 0.08.
TEST(ScaleBeyond, AShareOfTheFitIsAShareOfItsWeight) {
  const ConformalScale scale = scale_beyond(std::vector<BeyondMiss>(9, {0.2, 0.1, -0.1, 0.5}));
  EXPECT_NEAR(scale.fit_weight, 0.8, 1e-12);
  EXPECT_NEAR(scale.blended_scale, 0.8, 1e-12);
}

TEST(ScaleBeyond, FewFitsHaveNoWeight) {
  std::vector<BeyondMiss> misses(8, {0.2, 0.1, -0.1, 1});
  misses.push_back({0.2, 0.1, 0, 0});
  const ConformalScale scale = scale_beyond(misses);
  EXPECT_TRUE(scale.measured);
  EXPECT_EQ(scale.fit_weight, 0);
  EXPECT_EQ(scale_beyond({}).fit_weight, 0);
}

}  // namespace
}  // namespace assay
