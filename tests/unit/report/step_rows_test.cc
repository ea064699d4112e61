#include "report/document/step_rows.h"

#include <gtest/gtest.h>

#include "report/document/results.h"

namespace assay {
namespace {

struct Step {
  int64_t dur_ns;
  std::optional<int64_t> tokens;
};

Table steps_table(const std::vector<Step>& steps) {
  TableOf table(steps, {.key = "steps", .title = "Steps"});
  table.add(keys::dur_ns, &Step::dur_ns).add(keys::tokens, &Step::tokens);
  return table;
}

Section section_of(const std::vector<Step>& steps, size_t most) {
  Section section;
  push_step_rows(section, steps, most, {keys::dur_ns, keys::tokens, keys::kernels}, steps_table);
  return section;
}

const std::vector<Step> kFive = {{1, 10}, {2, 10}, {4, 10}, {8, 10}, {16, 10}};

TEST(StepRows, TheFirstHaveARowAndTheOthersASum) {
  const Section section = section_of(kFive, 2);
  ASSERT_EQ(section.blocks.size(), 2U);
  const Table& table = std::get<Table>(section.blocks[0]);
  EXPECT_EQ(table.rows, (std::vector<Row>{{1, 10}, {2, 10}}));
  EXPECT_EQ(table.title, "Steps (the first 2 of 5; assay sql and assay export have all)");
  const Facts& rest = std::get<Facts>(section.blocks[1]);
  EXPECT_EQ(rest.key, "steps_left_out");
  ASSERT_EQ(rest.items.size(), 3U);  // no column "kernels" to sum
  EXPECT_EQ(rest.items[0].key, "rows");
  EXPECT_EQ(rest.items[0].value, Value(3));
  EXPECT_EQ(rest.items[1].key, "dur_ns");
  EXPECT_EQ(rest.items[1].value, Value(28));
  EXPECT_EQ(rest.items[2].value, Value(30));
}

TEST(StepRows, AsManyAsFitAreAllShown) {
  for (const size_t most : {size_t{5}, size_t{0}}) {
    const Section section = section_of(kFive, most);
    ASSERT_EQ(section.blocks.size(), 1U);
    EXPECT_EQ(std::get<Table>(section.blocks[0]).rows.size(), 5U);
    EXPECT_EQ(std::get<Table>(section.blocks[0]).title, "Steps");
  }
}

TEST(StepRows, ASumIsMissingWhereARowLacksTheNumber) {
  const Section section = section_of({{1, 10}, {2, 10}, {4, std::nullopt}, {8, 10}}, 1);
  const Facts& rest = std::get<Facts>(section.blocks[1]);
  EXPECT_EQ(rest.items[1].value, Value(14));
  EXPECT_TRUE(rest.items[2].value.missing());
}

}  // namespace
}  // namespace assay
