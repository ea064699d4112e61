#include "throughput/annealing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "throughput/dataset.h"

namespace assay {
namespace {

ThroughputData grid(double scale = 1) {
  BenchTable table;
  for (const double length : {128., 256., 512., 1024.}) {
    for (const double batch : {1., 16., 32., 64.}) {
      BenchRow row;
      row.model = "m";
      row.in_len = row.out_len = length;
      row.batch = batch;
      row.tokens_per_s = scale * (5000 - length) * (1 - 0.97 * std::exp(-0.03 * batch));
      table.rows.push_back(row);
    }
  }
  return *make_throughput_data(table);
}

TEST(Annealing, BetterIsAlwaysAcceptedAndWorseWithExpOfItsDifference) {
  EXPECT_TRUE(accepts(10, 11, 1e-9, 0.999));
  // exp(-(12 - 10) / 4) = exp(-0.5) = 0.6065
  EXPECT_TRUE(accepts(12, 10, 4, 0.606));
  EXPECT_FALSE(accepts(12, 10, 4, 0.607));
  EXPECT_TRUE(accepts(10, 10, 4, 0.999));  // exp(0) = 1
  EXPECT_FALSE(accepts(10.1, 10, 0, 0));
}

TEST(Annealing, SubsetsAreEncodedLengthsInThenBatchesThenLengthsOut) {
  const ThroughputData data = grid();
  const ValueSets values = value_sets(data);
  EXPECT_TRUE(values.lengths_tied);
  EXPECT_EQ(values.batch, (std::vector<double>{1, 16, 32, 64}));
  const ValueSubset subset{
      {true, false, true, false}, {false, true, false, false}, {true, true, true, false}};
  EXPECT_EQ(encode(subset), (std::vector<double>{1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0}));
  // Lengths 128 and 512, batch 16: the second row of the first and of the third group of four.
  EXPECT_EQ(rows_inside(data, values, subset), (std::vector<size_t>{1, 9}));
}

TEST(Annealing, StartsWithEverySecondValueAndLogsEveryStep) {
  if (!boosted_trees_available()) GTEST_SKIP();
  AnnealingOptions options;
  options.steps = 20;
  options.rounds = 5;
  const auto run = anneal(grid(), options);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->log.size(), 21U);
  EXPECT_EQ(encode(run->log[0].subset), (std::vector<double>{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(run->log[0].rows, 4U);
  EXPECT_DOUBLE_EQ(run->log[1].temperature, 10);
  EXPECT_NEAR(run->log[3].temperature, 10 * 0.98 * 0.98, 1e-12);
  ValueSubset current = run->log[0].subset;
  for (size_t i = 1; i < run->log.size(); ++i) {
    const auto before = encode(current);
    const auto after = encode(run->log[i].subset);
    int flips = 0;
    for (size_t k = 0; k < before.size(); ++k) flips += before[k] != after[k];
    EXPECT_TRUE(flips == 1 || flips == 2) << "a batch size, or a length on both sides";
    EXPECT_EQ(run->log[i].subset.in_len, run->log[i].subset.out_len);
    if (run->log[i].accepted) current = run->log[i].subset;
  }
  const auto again = anneal(grid(), options);
  for (size_t i = 0; i < run->log.size(); ++i) {
    EXPECT_EQ(run->log[i].error, again->log[i].error);
    EXPECT_EQ(run->log[i].subset, again->log[i].subset);
  }
}

// SplitMix64 with seed 1 begins 0x910a2dec89025cc1 (worked out in Python), which is 5 modulo the 12
// values: four lengths in, then the second batch size.
TEST(Annealing, TheFirstStepOfSeedOneTogglesTheValueThatTheGeneratorNames) {
  if (!boosted_trees_available()) GTEST_SKIP();
  AnnealingOptions options;
  options.steps = 1;
  options.rounds = 5;
  const auto run = anneal(grid(), options);
  ASSERT_TRUE(run);
  EXPECT_EQ(0x910a2dec89025cc1ULL % 12, 5U);
  EXPECT_EQ(encode(run->log[1].subset), (std::vector<double>{1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0}));
}

TEST(Annealing, AnInterruptedRunKeepsItsLog) {
  if (!boosted_trees_available()) GTEST_SKIP();
  AnnealingOptions options;
  options.rounds = 5;
  options.progress = [](const auto& log) { return log.size() < 5; };
  const auto run = anneal(grid(), options);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->interrupted);
  EXPECT_EQ(run->log.size(), 5U);
}

TEST(Annealing, OneRowIsARefusalNotALoop) {
  BenchTable table;
  BenchRow row;
  row.in_len = row.out_len = row.batch = row.tokens_per_s = 10;
  table.rows = {row};
  const auto run = anneal(*make_throughput_data(table), {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kUnsupported);
}

TEST(Annealing, CosineDistanceIsOneMinusTheCosine) {
  // (2, 0, 1) and (1, 1, 0): 1 - 2 / sqrt(5 x 2)
  EXPECT_NEAR(cosine_distance({2, 0, 1}, {1, 1, 0}), 0.3675444679663241, 1e-15);
  EXPECT_NEAR(cosine_distance({1, 2}, {3, 6}), 0, 1e-15);
  EXPECT_EQ(cosine_distance({0, 0}, {1, 1}), 1);
}

AnnealingRun run_with_all(const ThroughputData& data) {
  AnnealingRun run;
  run.values = value_sets(data);
  AnnealingStep step;
  step.subset = {std::vector<bool>(4, true), std::vector<bool>(4, true),
                 std::vector<bool>(4, true)};
  run.log = {step};
  return run;
}

TEST(Annealing, ConfidenceIsOneAtHomeAndFallsWithAnotherThroughput) {
  const ThroughputData data = grid();
  const AnnealingRun run = run_with_all(data);
  EXPECT_NEAR(confidence(data, run, data, false), 1, 1e-12);
  EXPECT_NEAR(confidence(data, run, data, true), 1, 1e-12);
  const ThroughputData slow = grid(1e-4);
  EXPECT_NEAR(confidence(data, run, slow, false), 1, 1e-12);
  // No bin of throughput in common: a distance of 1 in one of four histograms.
  EXPECT_NEAR(confidence(data, run, slow, true), 1 / 1.25, 1e-12);
}

TEST(Annealing, TheErrorPredictorLearnsTheLog) {
  if (!boosted_trees_available()) GTEST_SKIP();
  std::vector<AnnealingStep> log(8);
  for (size_t i = 0; i < log.size(); ++i) {
    log[i].subset = {{(i & 1) != 0}, {(i & 2) != 0}, {(i & 4) != 0}};
    log[i].error = (i & 2) != 0 ? 0.05 : 0.40;
  }
  const auto predictor = ErrorPredictor::train(log);
  ASSERT_TRUE(predictor);
  EXPECT_NEAR(*predictor->predict({{true}, {true}, {false}}), 0.05, 0.01);
  EXPECT_NEAR(*predictor->predict({{false}, {false}, {true}}), 0.40, 0.01);
}

}  // namespace
}  // namespace assay
