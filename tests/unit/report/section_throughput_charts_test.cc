#include "report/throughput/charts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::vector<const Chart*> charts_of(const std::vector<Block>& blocks) {
  std::vector<const Chart*> charts;
  for (const Block& block : blocks) {
    if (const Chart* chart = std::get_if<Chart>(&block)) charts.push_back(chart);
  }
  return charts;
}

const Table* table_of(const std::vector<Block>& blocks, const std::string& key) {
  for (const Block& block : blocks) {
    const Table* table = std::get_if<Table>(&block);
    if (table != nullptr && table->key == key) return table;
  }
  return nullptr;
}

// Four rows of one model with errors of 10, 20, 30 and 40 %; the last one is infeasible.
struct Bench {
  BenchTable table;
  ThroughputData data;
  std::vector<SplitErrors> errors;

  Bench() {
    for (int i = 0; i < 4; ++i) {
      BenchRow row;
      row.model = "m";
      data.rows.push_back(row);
      data.infeasible.push_back(i == 3);
      data.group.push_back(0);
      data.config.push_back(0);
    }
    data.group_names = {"g"};
    data.config_names = {"c"};
  }
  void add(const std::string& split, const std::string& method) {
    SplitErrors one{split, split + " in words", method, {}, {}};
    for (size_t i = 0; i < 4; ++i) one.rows.push_back({i, 0, {}, 0.1 * static_cast<double>(i + 1)});
    one.summary.median_ape = 0.2;
    one.summary.p10_ape = 0.12;
    one.summary.p90_ape = 0.28;
    errors.push_back(std::move(one));
  }
  ThroughputEvaluation evaluation() const { return {table, data, {}, errors, {}, false, {}}; }
};

TEST(ThroughputCharts, DistributionsAreOfFeasibleRows) {
  Bench bench;
  bench.add("S1", "ala");
  const std::vector<Block> blocks = evaluation_charts(bench.evaluation());
  const Table* table = table_of(blocks, "distribution");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 21u);
  EXPECT_DOUBLE_EQ(*table->rows[10][3].number(), 0.2);  // half of 10, 20, 30 %
  EXPECT_DOUBLE_EQ(*table->rows[20][3].number(), 0.1 * 3);
}

TEST(ThroughputCharts, TrainingSetsHaveAChartOfTheirOwnAndThePapersNumber) {
  Bench bench;
  bench.add("E1", "ala");
  bench.add("E2", "ala");
  bench.add("S3", "ala");
  const std::vector<Block> blocks = evaluation_charts(bench.evaluation());
  const auto has = [&blocks](const std::string& title) {
    const auto charts = charts_of(blocks);
    return std::any_of(charts.begin(), charts.end(),
                       [&title](const Chart* chart) { return chart->title == title; });
  };
  EXPECT_TRUE(has("Errors by training set, ala (ALA, Figure 6)"));
  EXPECT_TRUE(has("Errors by method, S3 (ALA, Figure 7a)"));
  const Table* sets = table_of(blocks, "training_sets");
  ASSERT_NE(sets, nullptr);
  ASSERT_EQ(sets->rows.size(), 2u);
  EXPECT_EQ(sets->rows[0].back().number(), 0.04);
  EXPECT_TRUE(sets->rows[1].back().missing());
}

TEST(ThroughputCharts, TimesAreShownOnlyWhereTheyWereMeasured) {
  Bench bench;
  bench.add("S1", "ala");
  ThroughputEvaluation evaluation = bench.evaluation();
  EXPECT_EQ(table_of(evaluation_charts(evaluation), "timing"), nullptr);
  evaluation.times = {{"S1", "ala", "1", 100, 5, 2000}, {"S1", "ala", "2", 120, 6, 4000}};
  const std::vector<Block> blocks = evaluation_charts(evaluation);
  ASSERT_NE(table_of(blocks, "timing"), nullptr);
  const Chart* spread = charts_of(blocks)[charts_of(blocks).size() - 2];
  EXPECT_EQ(spread->series[0].y, std::vector<double>{3000});
  EXPECT_EQ(spread->series[0].high, std::vector<double>{4000});
}

TEST(ThroughputCharts, SeriesAreAsLongAsTheirAxes) {
  Bench bench;
  for (const char* split : {"S1", "S2"}) {
    for (const char* method : {"ala", "linear"}) bench.add(split, method);
  }
  bench.errors.pop_back();  // one method without the second split
  const std::vector<Block> blocks = evaluation_charts(bench.evaluation());
  for (const Chart* chart : charts_of(blocks)) {
    for (const Series& series : chart->series) {
      const size_t n = series.x.empty() ? chart->categories.size() : series.x.size();
      EXPECT_EQ(series.y.size(), n) << chart->title;
      EXPECT_TRUE(series.low.empty() || series.low.size() == n) << chart->title;
    }
  }
}

BenchRow run_on(const char* gpu, double devices, double batch, double length) {
  BenchRow row;
  row.hardware = gpu;
  row.framework = "vLLM";
  row.model = "m/M";
  row.devices = devices;
  row.batch = batch;
  row.in_len = row.out_len = length;
  return row;
}

Explained told(double tokens_per_s) {
  Explained out;
  out.prediction = {tokens_per_s, tokens_per_s / 2, tokens_per_s * 2, PredictionStatus::kInside,
                    ""};
  return out;
}

// Two GPUs of one configuration stand on one chart, each with what was measured; other lengths have
// a chart of their own, which names its one GPU.
TEST(ThroughputCharts, CurvesOfSeveralGpusShareAChart) {
  ThroughputFit fit;
  fit.method = "assay";
  std::vector<BenchRow> rows = {run_on("A", 1, 4, 128)};
  rows[0].tokens_per_s = 90;
  ThroughputAnswers answers{fit, rows, {}};
  for (const double batch : {8, 4})
    answers.points.push_back({run_on("A", 1, batch, 128), told(10 * batch)});
  for (const double batch : {4, 8})
    answers.points.push_back({run_on("B", 1, batch, 128), told(20 * batch)});
  answers.points.push_back({run_on("A", 1, 4, 256), told(5)});
  const std::vector<Block> blocks = curve_charts(answers);
  const auto charts = charts_of(blocks);
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[0]->title, "Throughput over batch: m/M under vLLM, 128 + 128 tokens (ALA, Figure 2)");
  ASSERT_EQ(charts[0]->series.size(), 3U);
  EXPECT_EQ(charts[0]->series[0].name, "A");
  EXPECT_EQ(charts[0]->series[0].x, (std::vector<double>{4, 8}));
  EXPECT_EQ(charts[0]->series[0].y, (std::vector<double>{40, 80}));
  EXPECT_EQ(charts[0]->series[1].name, "A, measured");
  EXPECT_EQ(charts[0]->series[1].y, std::vector<double>{90});
  EXPECT_EQ(charts[0]->series[2].name, "B, not measured");
  EXPECT_EQ(charts[0]->series[2].high, (std::vector<double>{160, 320}));
  EXPECT_EQ(charts[1]->title, "Throughput over batch: m/M on A under vLLM, 256 + 256 tokens (ALA, Figure 2)");
  EXPECT_EQ(charts[1]->series.at(0).name, "predicted");
}

// Per GPU, in the order of latency, with the limit drawn; the legend says only what differs.
TEST(ThroughputCharts, CandidatesStandAgainstTheirLatency) {
  Goal goal;
  goal.latency_ms = 500;
  const std::vector<GoalPoint> points = {
      {run_on("A", 2, 8, 128), told(100), 900, 1000, GoalVerdict::kMissed},
      {run_on("A", 2, 4, 128), told(80), 300, 400, GoalVerdict::kMet},
      {run_on("B", 1, 4, 128), told(60), 200, 450, GoalVerdict::kMet}};
  const std::vector<Block> blocks = goal_charts(goal, points);
  const auto charts = charts_of(blocks);
  ASSERT_EQ(charts.size(), 1U);
  ASSERT_EQ(charts[0]->series.size(), 2U);
  EXPECT_EQ(charts[0]->series[0].name, "1 × B");
  EXPECT_EQ(charts[0]->series[1].name, "2 × A");
  EXPECT_EQ(charts[0]->series[1].x, (std::vector<double>{300, 900}));
  EXPECT_EQ(charts[0]->series[1].y, (std::vector<double>{40, 50}));
  EXPECT_EQ(charts[0]->series[1].low, (std::vector<double>{20, 25}));
  EXPECT_EQ(charts[0]->series[1].labels.front(), "batch 4, 128 + 128 tokens: met");
  ASSERT_EQ(charts[0]->guides.size(), 1U);
  EXPECT_EQ(charts[0]->guides[0].value, 500);
}

TEST(ThroughputCharts, MeasurementsAreBarsOfWhatTheyNarrow) {
  MeasureNext next;
  EXPECT_TRUE(measure_charts(next).empty());
  next.suggestions = {{run_on("A", 1, 8, 128), 0, 0, 0, 0.5},
                      {run_on("A", 2, 8, 64), 0, 0, 0, 0.25}};
  const std::vector<Block> blocks = measure_charts(next);
  const Chart& chart = *charts_of(blocks).front();
  EXPECT_EQ(chart.categories, (std::vector<std::string>{"8 × 128+128, n=1", "8 × 64+64, n=2"}));
  EXPECT_EQ(chart.series.at(0).y, (std::vector<double>{0.5, 0.25}));
}

TEST(ThroughputCharts, AnnealingShowsEverySeedAndItsBaselines) {
  AnnealingReport report;
  AnnealingRun run;
  run.log.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    run.log[i].rows = 10 * (i + 1);
    run.log[i].error = 0.1 * static_cast<double>(i);
  }
  report.runs = {{1, run}, {2, run}};
  report.baselines = {{2, "linear", {0.5, 0.6, 0.7}}};
  const auto blocks = annealing_charts(report);
  const auto charts = charts_of(blocks);
  ASSERT_EQ(charts.size(), 2u);  // no targets: no Table I
  ASSERT_EQ(charts[0]->series.size(), 3u);
  EXPECT_EQ(charts[0]->series[2].name, "linear, seed 2");
  EXPECT_EQ(charts[1]->series[2].x, (std::vector<double>{10, 20, 30}));
}

// Errors of a percent and shares of 90 have no axis in common.
TEST(ThroughputCharts, WidthsStandAgainstErrorsAndAgainstSharesApart) {
  const std::vector<Block> blocks =
      confidence_charts({{10, 0.02, 0.002, 0.9}, {10, 0.2, 0.022, 0.95}});
  const auto charts = charts_of(blocks);
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_TRUE(charts[0]->y.logarithmic);
  EXPECT_EQ(charts[0]->series.at(0).y, (std::vector<double>{0.002, 0.022}));
  EXPECT_EQ(charts[1]->series.at(0).y, (std::vector<double>{0.9, 0.95}));
  EXPECT_EQ(charts[1]->guides.size(), 1U);
}

}  // namespace
}  // namespace assay
