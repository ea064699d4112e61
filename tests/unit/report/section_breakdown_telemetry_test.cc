#include "report/breakdown/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

TelemetryReport report() {
  TelemetryReport report;
  report.trace = {1000 * kMs, 1300 * kMs};
  TelemetryRow row;
  row.iter = 4;
  row.values.resize(2);
  row.values[0] = {TelemetrySignal::kSmClock, SampledHow::kWeighted, 1410, 1400, 1420, 3, 1};
  row.values[1].signal = TelemetrySignal::kPower;
  row.values[1].how = SampledHow::kBracket;
  row.values[1].low = 300;
  row.values[1].high = 420.5;
  report.rows.push_back(row);
  for (const double clock : {1000.0, 1200.0}) {
    TelemetryTrack track;
    track.signal = TelemetrySignal::kSmClock;
    track.device = clock > 1100 ? "1" : "0";
    track.period_ns = 100 * kMs;
    track.t_ns = {1000 * kMs, 1100 * kMs};
    track.value = {clock, clock + 10};
    report.tracks.push_back(track);
  }
  return report;
}

template <typename Wanted>
const Wanted* find(const Section& section, const std::string& key) {
  for (const Block& block : section.blocks) {
    const auto* one = std::get_if<Wanted>(&block);
    if (one != nullptr && one->key == key) return one;
  }
  return nullptr;
}

TEST(BreakdownTelemetrySection, ValuesCarryTheirErrorAndBracketsTheirEnds) {
  Section section;
  add_breakdown_telemetry(report(), section);
  std::vector<std::string> cells;
  for (const Block& block : section.blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr || table->title != "Clocks, power and cores per iteration") continue;
    for (const Value& value : table->rows.at(0)) {
      if (value.get<std::string>() != nullptr) cells.push_back(*value.get<std::string>());
    }
  }
  EXPECT_THAT(cells, ElementsAre("1410 ±10", "300.0..420.5"));
  const auto* data = find<Table>(section, "telemetry");
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data->rows.size(), 2U);
}

TEST(BreakdownTelemetrySection, TheChartIsTheMeanOfTheGpusInTheirBandSinceTheTraceBegan) {
  Section section;
  add_breakdown_telemetry(report(), section);
  const auto* chart = find<Chart>(section, "telemetry_clocks");
  ASSERT_NE(chart, nullptr);
  EXPECT_THAT(chart->title, HasSubstr("Chopper, Figure 14"));
  ASSERT_EQ(chart->series.size(), 1U);
  EXPECT_THAT(chart->series[0].x, ElementsAre(0, 100e6));
  EXPECT_THAT(chart->series[0].y, ElementsAre(1100, 1110));
  EXPECT_THAT(chart->series[0].low, ElementsAre(1000, 1010));
  EXPECT_THAT(chart->series[0].high, ElementsAre(1200, 1210));
  EXPECT_EQ(find<Chart>(section, "cpu_active"), nullptr);
}

TEST(BreakdownTelemetrySection, CoresGiveBothHalvesOfFigure13) {
  TelemetryReport with = report();
  CpuActivity cpu;
  cpu.logical = 2;
  cpu.active = {2, 2, 2};
  cpu.min_cores = {1.5, 1.5, 1.5};
  cpu.moments = {{1000 * kMs, 1100 * kMs, 2, 1.5, 0, 1}};
  cpu.cores = {{{0, 0}, 2, 0, 1, 1.5}};
  cpu.active_siblings = {2};
  cpu.cores_used = 1;
  cpu.siblings_share = 1;
  with.cpu = cpu;
  Section section;
  add_breakdown_telemetry(with, section);
  ASSERT_NE(find<Facts>(section, "cpu"), nullptr);
  ASSERT_NE(find<Chart>(section, "cpu_active"), nullptr);
  const auto* siblings = find<Chart>(section, "cpu_siblings");
  ASSERT_NE(siblings, nullptr);
  EXPECT_TRUE(siblings->series[0].x.empty());
  EXPECT_THAT(siblings->series[1].x, ElementsAre(100e6));
}

CpuActivity cpu_of(size_t samples) {
  CpuActivity cpu;
  cpu.logical = 4;
  cpu.active = {2, 1, 3};
  cpu.min_cores = {1.5, 1, 2};
  cpu.moments.resize(samples);
  return cpu;
}

TEST(BreakdownTelemetrySection, WordsOnFewSamplesSayHowFew) {
  TelemetryReport with = report();
  with.cpu = cpu_of(5);
  EXPECT_THAT(telemetry_words(with).front(),
              HasSubstr("Of 4 logical cores 2 are active at once (median of 5 samples; 1 to 3), "
                        "and 1.5 would do."));
  with.cpu = cpu_of(4);
  EXPECT_EQ(telemetry_words(with).front(),
            "Only 4 samples of the cores lie in the trace, too few to know how many are active at "
            "once. 2 of 4 logical cores were (median; 1 to 3), and 1.5 would have done.");
  with.cpu = cpu_of(1);
  EXPECT_EQ(telemetry_words(with).front(),
            "Only 1 sample of the cores lies in the trace, too few to know how many are active at "
            "once. 2 of 4 logical cores were, and 1.5 would have done.");
}

TEST(BreakdownTelemetrySection, WordsOnIterationsGiveTheirFewestSamples) {
  const auto words = telemetry_words(report());
  ASSERT_FALSE(words.empty());
  EXPECT_THAT(words.front(), HasSubstr("GPU clock 1410 MHz per iteration (sampling error at most "
                                       "10; 3 samples or more each: few)"));
}

}  // namespace
}  // namespace assay
