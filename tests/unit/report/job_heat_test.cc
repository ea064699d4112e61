#include <gtest/gtest.h>

#include "report/job/heat.h"

namespace assay {
namespace {

TEST(FleetHeat, ACellIsTheLogarithmOfExcessOverAnIteration) {
  EXPECT_EQ(heat_byte(-1, 1'000'000), 255);  // nothing recorded
  EXPECT_EQ(heat_byte(0, 1'000'000), 0);
  EXPECT_EQ(heat_byte(999, 1'000'000), 0);  // below a thousandth
  EXPECT_EQ(heat_byte(1'000, 1'000'000), 1);
  EXPECT_EQ(heat_byte(10'001, 1'000'000), 51);      // a hundredth
  EXPECT_EQ(heat_byte(1'000'001, 1'000'000), 151);  // an iteration
  EXPECT_EQ(heat_byte(INT64_MAX / 2, 1), 254);
  EXPECT_EQ(heat_byte(5, 0), 185);  // no iteration: as if of 1 ns
}

// 1,030 ranks without nodes, one of them held up: 344 rows of three, the worst of each.
TEST(FleetHeat, OneOfManyRanksIsSeenInItsRow) {
  FleetJob job;
  job.columns = {4, 5};
  FleetFindings found;
  found.iteration_ns = 1000;
  for (int64_t r = 0; r < 1030; ++r) {
    job.ranks.emplace_back();
    job.ranks.back().number = r;
    found.cells_ns.push_back(0);
    found.cells_ns.push_back(r == 700 ? 500 : r == 1029 ? -1 : 0);
  }
  const FleetSets sets;
  const std::vector<Block> blocks = heat_blocks({job, sets, found, {}, {}});
  ASSERT_EQ(blocks.size(), 3u);
  const Table& table = std::get<Table>(blocks[1]);
  ASSERT_EQ(table.rows.size(), 344u);
  const auto cells = [&](size_t row) { return *table.rows[row][2].get<std::string>(); };
  EXPECT_EQ(*table.rows[233][0].get<std::string>(), "ranks 699 to 701");
  EXPECT_EQ(cells(233), "0087");  // 1 + 50 log10(500)
  EXPECT_EQ(cells(0), "0000");
  EXPECT_EQ(cells(343), "00ff");
  const Chart& chart = std::get<Chart>(blocks[2]);
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].name, "20 to 100 %");
  EXPECT_EQ(chart.series[0].x, std::vector<double>{5});
  EXPECT_EQ(chart.series[0].y, std::vector<double>{700});
  EXPECT_EQ(chart.series[0].labels[0],
            "rank 700, the worst of ranks 699 to 701: 500 ns above typical");
  ASSERT_EQ(chart.guides.size(), 1u);  // the axis has all ranks
  EXPECT_EQ(chart.guides[0].value, 1029);
}

}  // namespace
}  // namespace assay
