#include "report/document/definitions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {
namespace {

using Keys = std::vector<std::string>;

TEST(Definitions, ARowOfATableDefinesItsKeys) {
  const auto found = parse_definitions(
      "# Title\n\n## Launch\n\ntext with `no_key`\n\n### Times\n\n"
      "| key | label | definition | test |\n|---|---|---|---|\n"
      "| `a_ns`, `b_ns` (bee) | A | Σ of *all* [parts](other.md#x); `null` without | `Suite` |\n"
      "| plain | none | no key here | |\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].keys, (Keys{"a_ns", "b_ns"}));
  EXPECT_EQ(found[0].room, "Launch");
  EXPECT_EQ(found[0].heading, "Times");
  EXPECT_EQ(found[0].text, "Σ of all parts; null without");
}

TEST(Definitions, NamesSeveralDefiningColumns) {
  const auto found = parse_definitions(
      "## Trust\n| `what` | counts | time at stake |\n|---|---|---|\n"
      "| `lost` | rows | their time |\n| `kept` | rows \\| cells | |\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].text, "rows. time at stake: their time");
  EXPECT_EQ(found[1].text, "rows | cells");
  EXPECT_EQ(found[1].heading, "Trust");
}

TEST(Definitions, ObjectsNameTheirKeysInTheSecondColumn) {
  const auto found = parse_definitions(
      "## Info\n| object | keys | definition |\n|---|---|---|\n| `rows` | `x`, `y` | counts |\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].keys, (Keys{"rows", "x", "y"}));
  EXPECT_EQ(found[0].text, "counts");
}

TEST(Definitions, ARowBelongsToTheTableThatItsTextNames) {
  const auto found = parse_definitions(
      "## Launch\n### Top\n`top_kernels`: one row per name\n\n"
      "| key | definition |\n|---|---|\n| `mean_ns` | of a name |\n"
      "### Times\n| key | definition |\n|---|---|\n| `mean_ns` | of all |\n"
      "### Other\n| object | keys | definition |\n|---|---|---|\n"
      "| `causes[]`, `roof.rows` (all) | `ns` | time |\n| | `share` | of it |\n");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].tables, Keys{"top_kernels"});
  EXPECT_EQ(found[1].tables, Keys{});
  EXPECT_EQ(found[2].tables, (Keys{"causes", "roof.rows"}));
  EXPECT_EQ(found[3].tables, (Keys{"causes", "roof.rows"}));
}

TEST(Definitions, TheBuiltInTextDefinesTheMainNumbers) {
  const auto found = parse_definitions(metrics_text());
  for (const char* key : {"tklqt_ns", "akd_ns", "il_ns", "gpu_idle_union_ns", "hdbi"}) {
    const bool known = std::any_of(found.begin(), found.end(), [key](const Definition& d) {
      return std::find(d.keys.begin(), d.keys.end(), key) != d.keys.end();
    });
    EXPECT_TRUE(known) << key;
  }
}

TEST(Definitions, AcceptsIrregularText) {
  EXPECT_TRUE(parse_definitions("").empty());
  EXPECT_TRUE(parse_definitions("|").empty());
  EXPECT_TRUE(parse_definitions("|\n|---|\n|").empty());
  EXPECT_TRUE(parse_definitions("| `a | b |\n|---|---|\n| `open | text |").empty());
}

}  // namespace
}  // namespace assay
