#include "throughput/ala/annealing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

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

// 15 choices of lengths, 15 of batch sizes, without the whole: 15 x 15 - 1.
TEST(Annealing, AllSubsetsAreTriedOnceAndAgreeWithTheWalkAmongThem) {
  if (!boosted_trees_available()) GTEST_SKIP();
  AnnealingOptions options;
  options.steps = 5;
  options.rounds = 5;
  EXPECT_EQ(subset_count(value_sets(grid())), 224);
  const auto all = try_all_subsets(grid(), options);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->exhaustive);
  std::map<std::vector<double>, double> errors;
  for (const AnnealingStep& step : all->log) {
    EXPECT_EQ(step.subset.in_len, step.subset.out_len);
    errors.emplace(encode(step.subset), step.error);
  }
  EXPECT_EQ(all->log.size(), 224U);
  EXPECT_EQ(errors.size(), 224U);
  const auto walk = anneal(grid(), options);
  ASSERT_TRUE(walk);
  for (const AnnealingStep& step : walk->log) EXPECT_EQ(errors.at(encode(step.subset)), step.error);
}

TEST(Annealing, TooManySubsetsAreRefusedByTheirNumber) {
  BenchTable table;
  for (int i = 0; i < 20; ++i) {
    BenchRow row;
    row.model = "m";
    row.in_len = 100 + i;
    row.out_len = 7;
    row.batch = 1 + i;
    row.tokens_per_s = 100;
    table.rows.push_back(row);
  }
  const auto run = try_all_subsets(*make_throughput_data(table), {});
  ASSERT_FALSE(run);
  // (2^20 - 1)^2 x (2^1 - 1) - 1
  EXPECT_NE(run.error().message.find("1099509530624 subsets"), std::string::npos)
      << run.error().message;
}

// Rows of one configuration, all combinations.
ThroughputData rows_of(const std::vector<double>& lengths, const std::vector<double>& batches,
                       const std::string& model) {
  BenchTable table;
  for (const double length : lengths) {
    for (const double batch : batches) {
      BenchRow row;
      row.model = model;
      row.in_len = row.out_len = length;
      row.batch = batch;
      row.tokens_per_s = 10 * batch + length;
      table.rows.push_back(row);
    }
  }
  return *make_throughput_data(table);
}

// The source's subsets with length 256 had an error of 5 %, those without it one of 40 %.
TEST(Annealing, ThePredictedErrorOfATargetIsThatOfItsOwnValues) {
  if (!boosted_trees_available()) GTEST_SKIP();
  const ThroughputData source = rows_of({128, 256}, {1, 16}, "source");
  AnnealingRun run;
  run.values = value_sets(source);
  for (int k = 0; k < 12; ++k) {
    const bool longer = k % 2 == 0;
    const std::vector<bool> lengths = {k % 3 != 0 || !longer, longer};
    run.log.push_back({{lengths, {true, k % 4 < 2}, lengths}, 1, longer ? 0.05 : 0.40, 1, true});
  }
  const auto predicted = [&](const ThroughputData& target) {
    return *judge_target(source, run, target, 5);
  };
  EXPECT_NEAR(predicted(rows_of({128, 256}, {1, 16}, "a")).predicted_error, 0.05, 0.02);
  EXPECT_NEAR(predicted(rows_of({128}, {1, 16}, "b")).predicted_error, 0.40, 0.02);
  // A configuration of each kind, four rows and two: (4 x 5 + 2 x 40) / 6.
  BenchTable both;
  both.rows = rows_of({128, 256}, {1, 16}, "a").rows;
  for (const BenchRow& row : rows_of({128}, {1, 16}, "b").rows) both.rows.push_back(row);
  EXPECT_NEAR(predicted(*make_throughput_data(both)).predicted_error, 1.0 / 6, 0.02);
}

TEST(Annealing, ValuesThatWereNeverLearnedAreCountedAndHaveNoPlace) {
  if (!boosted_trees_available()) GTEST_SKIP();
  const ThroughputData source = rows_of({128, 256}, {1, 16}, "source");
  AnnealingRun run;
  run.values = value_sets(source);
  run.log.push_back({{{true, false}, {true, true}, {true, false}}, 2, 0.1, 1, true});
  run.log.push_back({{{false, true}, {true, true}, {false, true}}, 2, 0.1, 1, true});
  const TargetJudgement some = *judge_target(source, run, rows_of({128, 512}, {1}, "t"), 5);
  EXPECT_EQ(some.unknown_rows, 1U);
  EXPECT_NEAR(some.predicted_error, 0.1, 0.01);
  const TargetJudgement none = *judge_target(source, run, rows_of({512}, {1}, "t"), 5);
  EXPECT_EQ(none.unknown_rows, 1U);
  EXPECT_TRUE(std::isnan(none.predicted_error));
}

}  // namespace
}  // namespace assay
