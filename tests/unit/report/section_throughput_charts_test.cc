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
