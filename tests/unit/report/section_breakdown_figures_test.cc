#include "report/breakdown/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace assay {
namespace {

FigureBox box(double median) { return {4, median - 2, median - 1, median, median + 1, median + 2}; }

// A configuration of one matrix product and one norm on two GPUs, all figures but the last three.
ConfigFigures config(const std::string& name, double tokens_per_s) {
  const FigureOpName product{LevelPhase::kForward, OpType::kGemm, "attn_op"};
  const FigureOpName attention{LevelPhase::kForward, OpType::kAttention, "attn_fa"};
  const FigureOpName norm{LevelPhase::kBackward, OpType::kVector, "b_attn_n"};
  ConfigFigures one;
  one.name = name;
  one.gpus = 2;
  one.iterations = {4, 5};
  one.tokens = 4096;
  one.tokens_per_s = tokens_per_s;
  one.span_ns = box(1000);
  one.parts = {{LevelPhase::kForward, std::nullopt, 4, 600, 60, 0},
               {LevelPhase::kForward, OpType::kGemm, 4, 450, 20, 0},
               {LevelPhase::kBackward, std::nullopt, 4, 400, 40, 0},
               {LevelPhase::kBackward, OpType::kVector, 4, 400, 40, 0}};
  one.ops = {{product, box(450), 8, 0.5, 0.9, 10, 20},
             {attention, box(100), 8, 0.5, 0.2, 10, 20},
             {norm, box(400), 8, 0, std::numeric_limits<double>::quiet_NaN(), 1, 2}};
  one.comms = {{"all_gather", 8, box(300)}};
  for (const int32_t iter : {4, 5}) {
    for (const FigureOpName& op : {product, attention, norm})
      one.layers.push_back({op, iter, 0, box(0.5), box(200)});
  }
  one.executions = {{product, 0, 4, 0, 0.5, 200, 1, 0.4}, {product, 0, 5, 0, 0.7, 240, 1.2, 1}};
  return one;
}

template <typename T>
std::vector<const T*> blocks(const Section& section) {
  std::vector<const T*> found;
  for (const Block& block : section.blocks) {
    if (const T* one = std::get_if<T>(&block)) found.push_back(one);
  }
  return found;
}

const Table& table(const Section& section, const std::string& key) {
  const auto tables = blocks<Table>(section);
  return **std::find_if(tables.begin(), tables.end(),
                        [&key](const Table* one) { return one->key == key; });
}

std::string cell_text(const Value& value) {
  const auto* list = value.get<Value::List>();
  return list != nullptr && !list->empty() ? list->front() : "";
}

TEST(LevelFiguresSection, ChartsAreWellFormedAndNamedAfterTheirFigures) {
  const Section section = breakdown_figures_section({config("a", 100), config("b", 150)}, {}, {});
  std::set<std::string> keys;
  std::set<char> figures;
  for (const Chart* chart : blocks<Chart>(section)) {
    EXPECT_TRUE(keys.insert(chart->key).second) << chart->key << " stands twice";
    const size_t at = chart->title.find("(Chopper, Figure ");
    ASSERT_NE(at, std::string::npos) << chart->title;
    figures.insert(chart->title[at + 17]);
    EXPECT_FALSE(chart->series.empty()) << chart->title;
    for (const Series& series : chart->series) {
      const size_t n = series.x.empty() ? chart->categories.size() : series.x.size();
      EXPECT_EQ(series.y.size(), n) << chart->title << ", " << series.name;
      EXPECT_EQ(series.low.size(), series.high.size());
      EXPECT_TRUE(series.low.empty() || series.low.size() == n) << chart->title;
      EXPECT_TRUE(series.labels.empty() || series.labels.size() == n) << chart->title;
    }
  }
  EXPECT_EQ(figures, (std::set<char>{'4', '5', '6', '7', '8', '9', '1'}));
}

TEST(LevelFiguresSection, BarsOfAWaterfallAreInTheTableAndTheChart) {
  ConfigFigures one = config("a", 100);
  one.waterfalls = {{{LevelPhase::kForward, OpType::kGemm, "attn_op"},
                     8,
                     {{"theoretical", 300}, {"residual", 150}}}};
  const Section section = breakdown_figures_section({one}, {}, {});
  EXPECT_EQ(table(section, "waterfall").rows.size(), 2u);
  const Chart* chart = blocks<Chart>(section).back();
  ASSERT_EQ(chart->series.size(), 2u);
  EXPECT_EQ(chart->series[1].y, std::vector<double>{150});
}

TEST(LevelFiguresSection, SaysOfEveryFigureWhatAConfigurationLacks) {
  ConfigFigures bare = config("bare", 100);
  bare.comms.clear();
  bare.tokens.reset();
  const Section section = breakdown_figures_section({config("a", 100), bare}, {}, {});
  std::set<std::string> made;
  std::map<std::string, std::string> missing_of;
  for (const Row& row : table(section, "available").rows) {
    const std::string figure = *row[0].get<std::string>();
    const std::string missing = cell_text(row[3]);
    if (missing.empty()) made.insert(figure);
    missing_of[figure] = missing;
  }
  EXPECT_EQ(made, (std::set<std::string>{"4", "5", "11"}));
  EXPECT_EQ(missing_of["6"], "bare: no collective in its traces");
  EXPECT_EQ(missing_of["15"], "no counter runs");  // of neither
  EXPECT_EQ(missing_of["4, top"].substr(0, 6), "bare: ");
  // Readers get the same in words.
  const auto prose = blocks<Prose>(section);
  ASSERT_EQ(prose.size(), 1u);                 // and no insight
  EXPECT_EQ(prose[0]->paragraphs.size(), 8u);  // 4 top, 6, 7, 8, 9 of one; 13, 14, 15 of both
}

TEST(LevelFiguresSection, ComparesWithTheConfigurationGivenFirst) {
  const std::vector<ConfigFigures> configs = {config("a", 100), config("b", 150)};
  const Section section = breakdown_figures_section(configs, {}, {});
  const Table& rows = table(section, "configs");
  EXPECT_EQ(rows.rows[1].back().number(), 1.5);
  EXPECT_EQ(breakdown_figures_words(configs, {}).front(),
            "b has the highest throughput: 150 tokens/s, 1.50 times that of a.");
}

// Five iterations about `middle`, 2 apart, whose neighbours are opposite: they have no memory.
FigureSeries around(double middle) {
  return {middle - 4, middle + 4, middle - 2, middle + 2, middle};
}

ConfigFigures with_iterations(const std::string& name, double span_ns) {
  ConfigFigures one = config(name, 100);
  one.iterations = {1, 2, 3, 4, 5};
  one.span_each = around(span_ns);
  for (FigurePart& part : one.parts) {
    part.dur_each = around(part.dur_ns);
    part.launch_each = around(part.launch_ns);
    part.comm_wait_each = around(10);
  }
  return one;
}

// 1.00 us against 1.20 us: of 200 ns the norms have 150, launches 40, and 5 are too little to name.
// Of 25 differences, the third from each end: tables of Mann and Whitney.
TEST(LevelFiguresSection, SaysWhichIsSlowerByHowMuchAndWhere) {
  std::vector<ConfigFigures> configs = {with_iterations("b1", 1000), with_iterations("b2", 1200)};
  configs[1].parts[1].dur_each = around(455);
  configs[1].parts[2].launch_each = around(80);
  configs[1].parts[3].dur_each = around(550);
  EXPECT_EQ(
      breakdown_figures_words(configs, {}).at(1),
      "An iteration of b2 spans 20.0 % more than one of b1: 1.20 \u00b5s against 1.00 \u00b5s "
      "(+200 ns, +194 ns to +206 ns at 95 %; 5 iterations each); most in backward vec kernels "
      "(+150 ns, +144 ns to +156 ns at 95 %) and launch overhead (+40.0 ns, +28.0 ns to +52.0 ns "
      "at 95 %).");
}

TEST(LevelFiguresSection, ReportsInsignificantDifferences) {
  std::vector<ConfigFigures> configs = {with_iterations("b1", 1000), with_iterations("b2", 1001)};
  EXPECT_EQ(breakdown_figures_words(configs, {}).at(1),
            "Iterations of b2 and b1 do not differ significantly: 1.00 \u00b5s against 1.00 "
            "\u00b5s (+1.00 ns, -5.00 ns to +7.00 ns at 95 %; 5 iterations each).");
  configs[1].span_each = {1200, 1201};
  configs[1].iterations = {1, 2};
  configs[0].span_each.resize(2);
  configs[0].iterations = {1, 2};
  EXPECT_EQ(breakdown_figures_words(configs, {}).at(1),
            "An iteration of b2 spans 1.20 \u00b5s, one of b1 1.00 \u00b5s: too few iterations (2 "
            "iterations each) to separate noise from a difference.");
}

TEST(LevelFiguresSection, LayersAreShownOfOperationsThatLieInThem) {
  ConfigFigures one = config("a", 100);
  const FigureOpName head{LevelPhase::kForward, OpType::kGemm, "lp"};
  one.ops.push_back({head, box(9000), 2, 0, 0, 1, 1});  // the longest, once per iteration
  one.layers.push_back({head, 4, kNoLayer, box(0), box(9000)});
  const Section section = breakdown_figures_section({one}, {}, {.top = 1});
  for (const Row& row : table(section, "overlap_by_layer").rows)
    EXPECT_NE(*row[2].get<std::string>(), "lp");
}

TEST(LevelFiguresSection, DetailChoosesTheShownLayers) {
  const Section section = breakdown_figures_section({config("a", 100), config("b", 150)}, {},
                                                    {.top = 1, .detail = {"b"}});
  for (const Row& row : table(section, "overlap_by_layer").rows)
    EXPECT_EQ(*row[0].get<std::string>(), "b");
  EXPECT_EQ(table(section, "overlap_by_layer").rows.size(), 6u);
  EXPECT_EQ(table(section, "overlap_curve").rows.size(), 2u);
}

}  // namespace
}  // namespace assay
