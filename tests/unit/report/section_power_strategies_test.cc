#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "report/power/section.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Figure 5a: both series over the time of a run, with where SSE and SSP begin.
TEST(PowerStrategies, AContrastIsAChartOverTheRun) {
  PowerReport report;
  report.contrasts.push_back({"gemm",
                              "Figure 5a",
                              "clocks aligned",
                              "clocks tied by one read",
                              {{.toi_ns = 10, .power_w = 100}, {.toi_ns = 20, .power_w = 300}},
                              {{.toi_ns = 15, .power_w = 100}},
                              30,
                              40});
  const std::vector<Section> sections = power_sections(report);
  const Chart* chart = nullptr;
  for (const Block& block : sections.front().blocks) {
    const auto* one = std::get_if<Chart>(&block);
    if (one != nullptr && one->key == "strategy_0") chart = one;
  }
  ASSERT_NE(chart, nullptr);
  EXPECT_THAT(chart->title, HasSubstr("FinGraV, Figure 5a"));
  ASSERT_EQ(chart->series.size(), 2U);
  EXPECT_THAT(chart->series[0].x, ElementsAre(10, 20));
  EXPECT_THAT(chart->series[0].y, ElementsAre(100, 300));
  EXPECT_THAT(chart->series[1].x, ElementsAre(15));
  ASSERT_EQ(chart->guides.size(), 2U);
  EXPECT_EQ(chart->guides[0].value, 30);
  EXPECT_EQ(chart->guides[1].value, 40);
}

}  // namespace
}  // namespace assay
