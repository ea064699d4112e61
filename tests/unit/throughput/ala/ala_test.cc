#include "throughput/ala/ala.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "throughput/baselines.h"
#include "throughput/dataset.h"
#include "throughput/evaluate.h"

namespace assay {
namespace {

constexpr int kFewRounds = 50;

// Two configurations, three lengths each, on curves of their own.
BenchTable curves_table(double scale = 1) {
  BenchTable table;
  for (const char* model : {"m1", "m2"}) {
    for (const double length : {128., 512., 1024.}) {
      for (const double batch : {1., 16., 32., 64.}) {
        BenchRow row;
        row.hardware = "H";
        row.framework = "vLLM";
        row.model = model;
        row.in_len = row.out_len = length;
        row.batch = batch;
        const double top = (row.model == "m1" ? 9000 : 7000) - length;
        row.tokens_per_s = scale * (top - 0.97 * top * std::exp(-0.03 * batch));
        table.rows.push_back(row);
      }
    }
  }
  return table;
}

std::unique_ptr<ThroughputModel> fit(const ThroughputMethod& method, const ThroughputData& data,
                                     HeldOut held_out = HeldOut::kRow) {
  auto model = method.fit(data, held_out);
  EXPECT_TRUE(model);
  return std::move(*model);
}

BenchRow ask(const char* model, double length, double batch) {
  BenchRow row = curves_table().rows.front();
  row.model = model;
  row.in_len = row.out_len = length;
  row.batch = batch;
  return row;
}

TEST(Ala, ADatabaseHitIsTheCurveAtTheBatchSize) {
  const auto data = make_throughput_data(curves_table());
  const auto model = fit(ala_per_config_method(ala_boost_options(kFewRounds)), *data);
  const auto answers = model->predict({ask("m1", 512, 48), ask("m2", 128, 1000)});
  const double top = 9000 - 512;
  EXPECT_NEAR(answers[0].tokens_per_s, top - 0.97 * top * std::exp(-0.03 * 48), 0.1);
  EXPECT_EQ(answers[0].basis, "database");
  EXPECT_NEAR(answers[1].tokens_per_s, 7000 - 128, 0.1);
  EXPECT_TRUE(std::isnan(answers[0].low90));
}

TEST(Ala, AnUnknownConfigurationHasNoAnswer) {
  const auto data = make_throughput_data(curves_table());
  const auto model = fit(ala_per_config_method(ala_boost_options(kFewRounds)), *data);
  const auto answers = model->predict({ask("m3", 512, 48)});
  EXPECT_EQ(answers[0].status, PredictionStatus::kNoAnswer);
  EXPECT_TRUE(std::isnan(answers[0].tokens_per_s));
}

TEST(Ala, UnknownLengthsComeFromTheParameterModelsBetweenTheKnownOnes) {
  if (!boosted_trees_available()) GTEST_SKIP();
  const auto data = make_throughput_data(curves_table());
  const auto model = fit(ala_per_config_method(ala_boost_options(500)), *data);
  const auto answers = model->predict({ask("m1", 256, 64)});
  EXPECT_EQ(answers[0].basis, "parameter model");
  // Trees answer with what they have seen: between the values of 128 and of 1024.
  const double least = (9000 - 1024) * (1 - 0.97 * std::exp(-0.03 * 64));
  const double most = (9000 - 128) * (1 - 0.97 * std::exp(-0.03 * 64));
  EXPECT_GT(answers[0].tokens_per_s, 0.8 * least);
  EXPECT_LT(answers[0].tokens_per_s, 1.1 * most);
}

TEST(Ala, FeaturesAreThePublishedOnes) {
  const std::vector<double> features = length_features({3, 1});
  const std::vector<double> expected = {3, 1, std::log(4), std::log(2), std::log(4), 1.5, 0.75};
  ASSERT_EQ(features.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(features[i], expected[i], 1e-12);
}

TEST(Ala, ScalingTheThroughputsScalesTheAnswers) {
  const auto data = make_throughput_data(curves_table());
  const auto scaled = make_throughput_data(curves_table(3));
  const auto method = ala_per_config_method(ala_boost_options(kFewRounds));
  const std::vector<BenchRow> points = {ask("m1", 512, 48), ask("m2", 1024, 5)};
  const auto once = fit(method, *data)->predict(points);
  const auto thrice = fit(method, *scaled)->predict(points);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(thrice[i].tokens_per_s / once[i].tokens_per_s, 3, 1e-6);
  }
}

TEST(Ala, OrderOfRowsAndNamesOfConfigurationsChangeNothing) {
  BenchTable table = curves_table();
  const auto data = make_throughput_data(table);
  std::reverse(table.rows.begin(), table.rows.end());
  const auto reversed = make_throughput_data(table);
  for (BenchRow& row : table.rows) row.model.insert(0, "renamed ");
  const auto renamed = make_throughput_data(table);
  const auto method = ala_per_config_method(ala_boost_options(kFewRounds));
  for (const double length : {512., 300.}) {
    const double answer = fit(method, *data)->predict({ask("m1", length, 48)})[0].tokens_per_s;
    EXPECT_NEAR(fit(method, *reversed)->predict({ask("m1", length, 48)})[0].tokens_per_s / answer,
                1, 1e-6);
    EXPECT_NEAR(
        fit(method, *renamed)->predict({ask("renamed m1", length, 48)})[0].tokens_per_s / answer, 1,
        1e-6);
  }
}

TEST(Ala, DatabaseHitsOfThePooledVariantAreTheSame) {
  if (!boosted_trees_available()) GTEST_SKIP();
  const auto data = make_throughput_data(curves_table());
  const std::vector<BenchRow> points = {ask("m1", 512, 48), ask("m2", 128, 99)};
  const auto own = fit(ala_per_config_method(), *data)->predict(points);
  const auto pooled = fit(ala_pooled_method(vocabulary_of(*data), false), *data)->predict(points);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(own[i].tokens_per_s, pooled[i].tokens_per_s);
  }
}

TEST(Ala, TheMethodIsPooledWhereWholeConfigurationsAreHeldOut) {
  if (!boosted_trees_available()) GTEST_SKIP();
  const auto data = make_throughput_data(curves_table());
  const auto method = ala_method(vocabulary_of(*data), ala_boost_options(kFewRounds));
  const BenchRow unknown = ask("m3", 512, 48);
  EXPECT_EQ(fit(method, *data, HeldOut::kGroup)->predict({unknown})[0].status,
            PredictionStatus::kNoAnswer);
  EXPECT_EQ(fit(method, *data, HeldOut::kModel)->predict({unknown})[0].basis, "parameter model");
}

TEST(Baselines, EachAnswersATrainingRowPlausibly) {
  const auto data = make_throughput_data(curves_table());
  for (const ThroughputMethod& method : baselines(vocabulary_of(*data))) {
    if (!boosted_trees_available() && method.name.rfind("linear", 0) != 0) continue;
    const auto answers = fit(method, *data)->predict({data->rows[3], data->rows[23]});
    for (const Prediction& answer : answers) {
      EXPECT_GT(answer.tokens_per_s, 500) << method.name;
      EXPECT_LT(answer.tokens_per_s, 10000) << method.name;
    }
  }
}

// y = 2 + 3 x, with a column that never varies and one that repeats x.
TEST(Baselines, LinearRegressionIsExactOnALineWithRedundantColumns) {
  const ThroughputMethod linear = per_config_baseline(Regressor::kLinear);
  BenchTable table;
  for (const double x : {1., 2., 5., 9.}) {
    BenchRow row;
    row.in_len = row.out_len = 100;
    row.batch = x;
    row.tokens_per_s = 2 + 3 * x;
    table.rows.push_back(row);
  }
  const auto data = make_throughput_data(table);
  BenchRow point = data->rows[0];
  point.batch = 20;
  EXPECT_NEAR(fit(linear, *data)->predict({point})[0].tokens_per_s, 62, 1e-9);
}

// Predicts twice what it is asked at batch 1, nothing for batch 2, and marks batch 4 as outside;
// intervals of plus and minus half.
class Stub : public ThroughputModel {
 public:
  std::vector<Prediction> predict(const std::vector<BenchRow>& points) const override {
    std::vector<Prediction> out;
    for (const BenchRow& point : points) {
      EXPECT_TRUE(std::isnan(point.tokens_per_s));
      EXPECT_TRUE(std::isnan(point.latency_s));
      Prediction p{100, 50, 150, PredictionStatus::kInside, ""};
      if (point.batch == 2) p = {std::nan(""), 0, 0, PredictionStatus::kNoAnswer, ""};
      if (point.batch == 4) p.status = PredictionStatus::kOutside;
      out.push_back(p);
    }
    return out;
  }
};

TEST(Evaluate, ErrorsCoverageAndCountsAreOfTheFeasibleRows) {
  BenchTable table;
  // Errors against 100: batch 1: 0 %, 4: 25 %, 8: 50 %, 16: infeasible; 2 has no answer.
  const std::pair<double, double> rows[] = {{1, 100}, {2, 70}, {4, 80}, {8, 200}, {16, 1}};
  for (const auto& [batch, throughput] : rows) {
    BenchRow row;
    row.in_len = row.out_len = 10;
    row.batch = batch;
    row.tokens_per_s = throughput;
    row.latency_s = 1;
    table.rows.push_back(row);
  }
  const auto data = make_throughput_data(table, [](const BenchRow& row) {
    const double least_s = row.batch == 16 ? 2.0 : 0.0;
    return LatencyBound{least_s, least_s};
  });
  const ThroughputMethod stub{
      "stub", "stub", [](const ThroughputData&, HeldOut) {
        return Result<std::unique_ptr<ThroughputModel>>(std::make_unique<Stub>());
      }};
  Split split{"T", "test", HeldOut::kRow, {}};
  split.folds = {{"0", {0}, {0, 1, 2}}, {"1", {0}, {3, 4}}};
  const auto errors = evaluate_split(*data, split, stub);
  ASSERT_TRUE(errors);
  const ErrorSummary& s = errors->summary;
  EXPECT_EQ(s.rows, 4U);
  EXPECT_EQ(s.answered, 3U);
  EXPECT_EQ(s.outside, 1U);
  EXPECT_EQ(s.infeasible, 1U);
  EXPECT_NEAR(s.median_ape, 0.25, 1e-12);
  EXPECT_NEAR(s.p90_ape, 0.45, 1e-12);  // between 0.25 and 0.5 at 0.8
  EXPECT_NEAR(s.mean_ape, 0.25, 1e-12);
  EXPECT_NEAR(s.coverage90, 2. / 3, 1e-12);  // 200 lies above 150
  EXPECT_NEAR(s.half_width90, 0.5, 1e-12);
  const auto stopped = evaluate_split(
      *data, split, stub, [](const auto&, const auto&, size_t fold) { return fold < 1; });
  EXPECT_EQ(stopped->rows.size(), 3U);
}

}  // namespace
}  // namespace assay
