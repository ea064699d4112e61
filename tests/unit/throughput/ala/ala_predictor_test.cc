#include "throughput/ala/ala_predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "throughput/ala/annealing.h"
#include "throughput/dataset.h"
#include "throughput/model_file.h"

namespace assay {
namespace {

double curve(double length, double batch) {
  return (5000 - length) * (1 - 0.9 * std::exp(-0.04 * batch));
}

ThroughputData table_of(const std::string& hardware) {
  BenchTable table;
  for (const double length : {128., 256., 1024.}) {
    for (const double batch : {1., 8., 32., 128.}) {
      BenchRow row;
      row.hardware = hardware;
      row.model = "m";
      row.in_len = row.out_len = length;
      row.batch = batch;
      row.tokens_per_s = curve(length, batch);
      table.rows.push_back(row);
    }
  }
  return *make_throughput_data(table);
}

BenchRow point(double length, double batch, const std::string& hardware = "H") {
  BenchRow row;
  row.hardware = hardware;
  row.model = "m";
  row.in_len = row.out_len = length;
  row.batch = batch;
  return row;
}

AlaAnswer answer(const BenchRow& asked) {
  const AlaPredictor ala(table_of("H"), 4, ala_boost_options(50));
  const auto answers = ala.answer({asked});
  EXPECT_TRUE(answers) << answers.error().message;
  return answers->front();
}

TEST(AlaPredictor, MeasuredLengthsAreAnsweredByTheCurveInTheDatabase) {
  const AlaAnswer told = answer(point(256, 64));
  const Prediction& p = told.explained.prediction;
  EXPECT_EQ(p.basis, "database");
  EXPECT_EQ(told.explained.kind, HeldOut::kRow);
  EXPECT_NEAR(p.tokens_per_s, curve(256, 64), 0.01 * curve(256, 64));
  EXPECT_TRUE(std::isnan(p.low90) && std::isnan(p.high90)) << "ALA has no intervals";
  EXPECT_EQ(p.status, PredictionStatus::kInside);
  // The nearest row by powers of two: batch 32 and 128 lie one away, 32 comes first.
  EXPECT_EQ(told.explained.nearest.size(), 3U);
  EXPECT_EQ(told.explained.nearest[0].length_ratio, 1);
  EXPECT_EQ(told.explained.nearest[0].batch_ratio, 2);
}

TEST(AlaPredictor, OtherLengthsAreAnsweredByTheParameterModelOfTheConfiguration) {
  if (!boosted_trees_available()) GTEST_SKIP();
  const AlaAnswer told = answer(point(512, 32));
  EXPECT_EQ(told.explained.prediction.basis, "parameter model");
  EXPECT_EQ(told.explained.kind, HeldOut::kGroup);
  EXPECT_GT(told.explained.prediction.tokens_per_s, 0);
}

TEST(AlaPredictor, AnotherDeviceIsAnsweredByAllConfigurationsAndIsOutside) {
  if (!boosted_trees_available()) GTEST_SKIP();
  const AlaAnswer told = answer(point(256, 64, "other"));
  EXPECT_EQ(told.explained.prediction.basis, "parameter model of all configurations");
  EXPECT_EQ(told.explained.kind, HeldOut::kConfig);
  EXPECT_EQ(told.explained.prediction.status, PredictionStatus::kOutside);
  ASSERT_FALSE(told.explained.reasons.empty());
  EXPECT_EQ(told.explained.reasons.front(), "no row with the hardware other");
  EXPECT_TRUE(told.explained.nearest.empty());
}

TEST(AlaPredictor, BatchesFarBeyondTheRowsAreOutside) {
  EXPECT_EQ(answer(point(256, 512)).explained.prediction.status, PredictionStatus::kInside);
  EXPECT_EQ(answer(point(256, 513)).explained.prediction.status, PredictionStatus::kOutside);
}

// Bins of 204.8 tokens and of 25.6 sequences: 128 lies in the first, 256 in the second, 1024 in the
// sixth; batches 1 and 8 in the first, 32 in the second, 128 in the sixth.
TEST(AlaPredictor, ConfidenceCountsTheBinsThatAPointSharesWithARow) {
  const AlaPredictor ala(table_of("H"), 4, ala_boost_options(5));
  const auto of = [&](BenchRow asked) { return ala.answer({asked})->front().confidence; };
  EXPECT_DOUBLE_EQ(of(point(256, 32)), 1);
  EXPECT_DOUBLE_EQ(of(point(128, 20)), 1);
  // No row has a batch of the third bin: one of three histograms has nothing in common.
  EXPECT_DOUBLE_EQ(of(point(256, 64)), 1 / (1 + 1.0 / 3));
  if (!boosted_trees_available()) GTEST_SKIP();
  EXPECT_DOUBLE_EQ(of(point(512, 32)), 1 / (1 + 2.0 / 3));
  EXPECT_DOUBLE_EQ(of(point(512, 64)), 0.5);
}

// A logged subset per row, and a new data set of the one point.
TEST(AlaPredictor, ConfidenceOfAPointIsThatOfAlgorithm8ForASetOfOne) {
  const ThroughputData data = table_of("H");
  AnnealingRun run;
  run.values = value_sets(data);
  std::vector<size_t> rows;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    rows.push_back(i);
    run.log.push_back({values_of(run.values, data, {i}), 1, 0.1, 1, true});
  }
  for (const BenchRow& asked : {point(256, 32), point(256, 64), point(512, 32), point(700, 250)}) {
    BenchTable table;
    table.rows = {asked};
    table.rows[0].tokens_per_s = 1;
    const ThroughputData one = *make_throughput_data(table);
    EXPECT_NEAR(point_confidence(data, rows, asked), confidence(data, run, one, false), 1e-12);
  }
}

TEST(AlaPredictor, AModelFileGivesTheSameAnswers) {
  ThroughputFit fit;
  fit.method = "ala";
  fit.source = "t.csv";
  fit.format = "csv";
  fit.data = table_of("H");
  fit.options.outside_factor = 7;
  const auto read = read_model(write_ala_model(fit), "m.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->method, "ala");
  EXPECT_EQ(read->options.outside_factor, 7);
  const AlaPredictor before(fit.data);
  const AlaPredictor after(read->data);
  const BenchRow asked = point(256, 64);
  EXPECT_EQ(before.answer({asked})->front().explained.prediction.tokens_per_s,
            after.answer({asked})->front().explained.prediction.tokens_per_s);
}

TEST(AlaPredictor, AModelFileOfAnUnknownMethodIsRefused) {
  ThroughputFit fit;
  fit.data = table_of("H");
  std::string text = write_ala_model(fit);
  text.replace(text.find("\"ala\""), 5, "\"alb\"");
  const auto read = read_model(text, "m.json");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("alb"), std::string::npos) << read.error().message;
}

// Rows of 1024 tokens that nobody can measure: learnt from, their curve would answer.
TEST(AlaPredictor, ImpossibleRowsTeachNothing) {
  ThroughputData data = table_of("H");
  for (size_t i = 0; i < data.rows.size(); ++i) {
    if (data.rows[i].in_len != 1024) continue;
    data.rows[i].tokens_per_s *= 100;
    data.infeasible[i] = true;
  }
  const AlaPredictor ala(data, 4, ala_boost_options(50));
  EXPECT_EQ(ala.data().rows.size(), 8U);
  EXPECT_EQ(ala.fits().size(), 2U);
  const auto told = ala.answer({point(1024, 64)});
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->front().explained.prediction.basis, "parameter model");
  EXPECT_LT(told->front().explained.prediction.tokens_per_s, 2 * curve(256, 128));
}

TEST(AlaPredictor, AConfigurationOfImpossibleRowsIsOneWithoutRows) {
  ThroughputData data = table_of("H");
  BenchTable more{"", "csv", data.rows, {}};
  more.rows.push_back(point(128, 8, "impossible"));
  more.rows.back().tokens_per_s = 1e6;
  data = *make_throughput_data(more);
  data.infeasible.back() = true;
  const AlaPredictor ala(data, 4, ala_boost_options(50));
  const auto told = ala.answer({point(128, 8, "impossible")});
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->front().explained.prediction.status, PredictionStatus::kOutside);
}

TEST(AlaPredictor, AnAnswerFasterThanAnyRunIsOutside) {
  const LeastLatency slow = [](const BenchRow&) { return LatencyBound{1000, 1000}; };
  const AlaPredictor ala(table_of("H"), 4, ala_boost_options(50), slow);
  const auto told = ala.answer({point(256, 64)});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->front().explained.prediction.status, PredictionStatus::kOutside);
  EXPECT_NE(told->front().explained.reasons.back().find("impossible"), std::string::npos);
}

}  // namespace
}  // namespace assay
