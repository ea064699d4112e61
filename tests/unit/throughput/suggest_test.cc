#include "throughput/suggest.h"

#include <gtest/gtest.h>

#include "throughput/dataset.h"

namespace assay {
namespace {

// Ten tokens in, ten out, at 20 tokens/s per sequence until 8 of them share 160 tokens/s.
std::unique_ptr<Predictor> saturating() {
  BenchTable table{"made", "csv", {}, {}};
  for (const double batch : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    BenchRow row;
    row.hardware = "mine";
    row.framework = "engine";
    row.model = "small";
    row.in_len = row.out_len = 10;
    row.batch = batch;
    row.tokens_per_s = 20 * std::min(batch, 8.0);
    table.rows.push_back(row);
  }
  return *Predictor::fit(*make_throughput_data(table), FactBook::built_in());
}

std::vector<BenchRow> batches(const Predictor& predictor) {
  std::vector<BenchRow> points;
  for (const double batch : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    points.push_back(predictor.rows().front());
    points.back().batch = batch;
  }
  return points;
}

TEST(Goal, ALatencyIsMetWhereTheLowEndOfTheIntervalMeetsIt) {
  const auto predictor = saturating();
  const std::vector<BenchRow> points = batches(*predictor);
  const std::vector<Explained> explained = predictor->explain(points);
  const std::vector<GoalPoint> checked =
      check_goal(*predictor, points, {.latency_ms = 2000, .tokens_per_s = {}});
  ASSERT_EQ(checked.size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    // batch sequences of 20 tokens in two seconds.
    const double needed = 10 * points[i].batch;
    const Prediction& p = explained[i].prediction;
    EXPECT_EQ(checked[i].verdict == GoalVerdict::kMet, p.low90 >= needed) << points[i].batch;
    EXPECT_EQ(checked[i].verdict == GoalVerdict::kMissed, p.high90 < needed) << points[i].batch;
    EXPECT_NEAR(checked[i].latency_high_ms, 20 * points[i].batch / p.low90 * 1000, 1e-6);
  }
  // One sequence takes about a second, 32 of them four.
  EXPECT_EQ(checked.front().verdict, GoalVerdict::kMet);
  EXPECT_EQ(checked.back().verdict, GoalVerdict::kMissed);
}

TEST(Goal, AThroughputIsMetWhereTheLowEndOfTheIntervalReachesIt) {
  const auto predictor = saturating();
  const std::vector<GoalPoint> checked =
      check_goal(*predictor, batches(*predictor), {.latency_ms = {}, .tokens_per_s = 100});
  EXPECT_EQ(checked.front().verdict, GoalVerdict::kMissed);
  EXPECT_EQ(checked.back().verdict, GoalVerdict::kMet);
}

TEST(Goal, WithBothGoalsBothMustBeMet) {
  const auto predictor = saturating();
  const std::vector<BenchRow> points = batches(*predictor);
  const auto verdicts = [&](const Goal& goal) {
    std::vector<GoalVerdict> out;
    for (const GoalPoint& point : check_goal(*predictor, points, goal))
      out.push_back(point.verdict);
    return out;
  };
  const auto latency = verdicts({.latency_ms = 2500, .tokens_per_s = {}});
  const auto throughput = verdicts({.latency_ms = {}, .tokens_per_s = 50});
  const auto both = verdicts({.latency_ms = 2500, .tokens_per_s = 50});
  for (size_t i = 0; i < both.size(); ++i)
    EXPECT_EQ(both[i], std::max(latency[i], throughput[i])) << points[i].batch;
}

TEST(Goal, APlainGoalIsMetByAllOrNone) {
  const auto predictor = saturating();
  const std::vector<BenchRow> points = batches(*predictor);
  for (const GoalPoint& point :
       check_goal(*predictor, points, {.latency_ms = 1e12, .tokens_per_s = 1e-9}))
    EXPECT_EQ(point.verdict, GoalVerdict::kMet);
  for (const GoalPoint& point :
       check_goal(*predictor, points, {.latency_ms = 1e-9, .tokens_per_s = {}}))
    EXPECT_EQ(point.verdict, GoalVerdict::kMissed);
}

// Batch 1000 is 31 times the largest that was measured: no estimate makes it sure.
TEST(Goal, NothingOutsideTheDataMeetsIt) {
  const auto predictor = saturating();
  std::vector<BenchRow> points = batches(*predictor);
  points.push_back(points.back());
  points.back().batch = 1000;
  const std::vector<GoalPoint> checked =
      check_goal(*predictor, points, {.latency_ms = {}, .tokens_per_s = 1e-9});
  EXPECT_EQ(checked.back().verdict, GoalVerdict::kOutside);
  EXPECT_EQ(checked.front().verdict, GoalVerdict::kMet);
}

TEST(Goal, TheBestComesFirstAndWhatIsOutsideLast) {
  const auto predictor = saturating();
  std::vector<BenchRow> points = batches(*predictor);
  points.insert(points.begin(), points.back());
  points.front().batch = 1000;
  const auto order = [&](const Goal& goal) {
    std::vector<GoalPoint> checked = check_goal(*predictor, points, goal);
    sort_by_goal(checked, goal);
    std::vector<double> out;
    for (const GoalPoint& point : checked) out.push_back(point.point.batch);
    return out;
  };
  // The smallest batch that is enough; what misses it, by how much.
  const std::vector<double> throughput = order({.latency_ms = {}, .tokens_per_s = 100});
  EXPECT_EQ(throughput.front(), 6);
  EXPECT_EQ(throughput[throughput.size() - 2], 1);
  EXPECT_EQ(throughput.back(), 1000);
  // With endless time, what gives most.
  const std::vector<double> latency = order({.latency_ms = 1e12, .tokens_per_s = {}});
  EXPECT_GE(latency.front(), 8);
  EXPECT_EQ(latency[latency.size() - 2], 1);
  EXPECT_EQ(latency.back(), 1000);
}

TEST(Suggest, TopZeroListsAll) {
  const auto predictor = saturating();
  const std::vector<BenchRow> points = batches(*predictor);
  EXPECT_EQ(suggest_measurements(*predictor, points, points, 3)->suggestions.size(), 3U);
  EXPECT_EQ(suggest_measurements(*predictor, points, points, 0)->suggestions.size(), points.size());
}

TEST(Reach, LengthsThatNeverDifferedLeaveUnequalOnesOutside) {
  const auto predictor = saturating();
  BenchRow point = predictor->rows().front();
  EXPECT_TRUE(predictor->explain({point}).front().reasons.empty());
  point.in_len = 20;
  const Explained explained = predictor->explain({point}).front();
  EXPECT_EQ(explained.prediction.status, PredictionStatus::kOutside);
  EXPECT_EQ(explained.reasons,
            std::vector<std::string>{"the rows have equal input and output lengths only"});
}

TEST(Reach, WeightsThatDoNotFitAreOutside) {
  BenchTable table{"made", "csv", {}, {}};
  for (const char* model : {"meta-llama/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-70B"}) {
    for (const double batch : {1, 8}) {
      BenchRow row;
      row.hardware = "Nvidia H100 GPU";
      row.framework = "vLLM";
      row.model = model;
      row.devices = row.model.find("70B") != std::string::npos ? 4 : 1;
      row.in_len = row.out_len = 128;
      row.batch = batch;
      row.tokens_per_s = 100 * batch;
      table.rows.push_back(row);
    }
  }
  const auto predictor = *Predictor::fit(*make_throughput_data(table), FactBook::built_in());
  BenchRow point = table.rows.back();
  point.devices = 2;  // 141 GB of 160 GB
  EXPECT_TRUE(predictor->explain({point}).front().reasons.empty());
  point.devices = 1;
  const Explained explained = predictor->explain({point}).front();
  EXPECT_EQ(explained.prediction.status, PredictionStatus::kOutside);
  ASSERT_EQ(explained.reasons.size(), 1U);
  EXPECT_EQ(explained.reasons.front().rfind("weights 141", 0), 0U) << explained.reasons.front();
  EXPECT_NE(explained.reasons.front().find("GB do not fit 80 GB"), std::string::npos);
}

TEST(Unmeasured, PointsAreTheHolesOfTheTable) {
  std::vector<BenchRow> rows = batches(*saturating());
  rows.resize(3);
  rows[2].in_len = 20;  // lengths 10 and 20; batches 1, 2 and 3
  const std::vector<BenchRow> holes = unmeasured_points(rows);
  ASSERT_EQ(holes.size(), 3U);
  EXPECT_EQ(holes[0].batch, 3);
  EXPECT_EQ(holes[0].in_len, 10);
  EXPECT_EQ(holes[1].batch, 1);
  EXPECT_EQ(holes[1].in_len, 20);
  EXPECT_EQ(holes[2].batch, 2);
}

// 4 devices at 300 tokens/s are 75 each, one does 100.
TEST(Goal, RanksPerDeviceUnlessTheTotalIsRequested) {
  const auto point = [](double devices, double batch, double rate) {
    GoalPoint p;
    p.point.devices = devices;
    p.point.batch = batch;
    p.explained.prediction.tokens_per_s = rate;
    p.verdict = GoalVerdict::kMet;
    return p;
  };
  const std::vector<GoalPoint> made = {point(4, 1, 300), point(1, 8, 100), point(2, 4, 160)};
  const auto order = [&](const Goal& goal, GoalRank rank) {
    std::vector<GoalPoint> points = made;
    sort_by_goal(points, goal, rank);
    std::vector<double> devices;
    for (const GoalPoint& p : points) devices.push_back(p.point.devices);
    return devices;
  };
  const Goal latency{.latency_ms = 1000, .tokens_per_s = {}};
  EXPECT_EQ(order(latency, GoalRank::kPerDevice), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(order(latency, GoalRank::kTotal), (std::vector<double>{4, 2, 1}));
  const Goal rate{.latency_ms = {}, .tokens_per_s = 10};
  EXPECT_EQ(order(rate, GoalRank::kPerDevice), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(order(rate, GoalRank::kTotal), (std::vector<double>{4, 2, 1}));
}

}  // namespace
}  // namespace assay
