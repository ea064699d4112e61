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

std::string text_at(const DefinitionsByPlace& places, std::string_view section,
                    std::string_view table, std::string_view key) {
  const Definition* found = places.find(section, table, key);
  return found == nullptr ? "none" : found->text;
}

TEST(DefinitionsByPlace, TheTextOfTheTableIsNearerThanThatOfTheModule) {
  const DefinitionsByPlace places(parse_definitions(
      "## Breakdown\n| key | definition |\n|---|---|\n| `op` | of a layer |\n"
      "### Roof\n| object | keys | definition |\n|---|---|---|\n| `roofline.ops` | `op` | of a "
      "roof |\n"
      "## Keys of several rooms\n| key | definition |\n|---|---|\n| `rank` | of a job |\n"));
  EXPECT_EQ(text_at(places, "roofline", "ops", "op"), "of a roof");
  EXPECT_EQ(text_at(places, "breakdown", "tree", "op"), "of a layer");
  EXPECT_EQ(text_at(places, "fusion", "plan", "rank"), "of a job");
  EXPECT_EQ(text_at(places, "breakdown", "tree", "layers.op"), "of a layer");
}

TEST(DefinitionsByPlace, NoPlaceHasTheTextOfAnotherModule) {
  const DefinitionsByPlace places(parse_definitions(
      "## Launch\n| key | definition |\n|---|---|\n| `idle_ns` | of a launch |\n"
      "## Power\n`parts`: rows\n\n| key | definition |\n|---|---|\n| `mean_w` | of a part |\n"));
  EXPECT_EQ(text_at(places, "launch", "", "idle_ns"), "of a launch");
  EXPECT_EQ(text_at(places, "host_overhead", "", "idle_ns"), "none");
  EXPECT_EQ(text_at(places, "", "parts", "mean_w"), "none");
  EXPECT_EQ(text_at(places, "launch", "", "absent"), "none");
}

TEST(DefinitionsByPlace, AnObjectOfOneNameDoesNotCoverTheModule) {
  const DefinitionsByPlace places(
      parse_definitions("## Launch\n| key | definition |\n|---|---|\n| `tklqt_ns` | Eq. 2 |\n"
                        "## Info\n| object | keys | definition |\n|---|---|---|\n| `launch` | "
                        "`tklqt_ns` | as there |\n"
                        "| `rows` | `ops` | counts |\n"));
  EXPECT_EQ(text_at(places, "launch", "whole", "tklqt_ns"), "Eq. 2");
  EXPECT_EQ(text_at(places, "rows", "", "ops"), "counts");
}

TEST(DefinitionsByPlace, TheHeadingOfTheModuleIsNearerThanItsOthers) {
  const DefinitionsByPlace places(parse_definitions(
      "## Launch\n| key | definition |\n|---|---|\n| `n` | of the window |\n"
      "## The call tree and the kernel list\n| key | definition |\n|---|---|\n| `n` | below |\n"));
  EXPECT_EQ(text_at(places, "launch", "whole", "n"), "of the window");
}

TEST(DefinitionsByPlace, TwoTextsOfOnePlaceAreNone) {
  const DefinitionsByPlace places(
      parse_definitions("## Diff\n| key | definition |\n|---|---|\n| `n` | of a side |\n| `n` | of "
                        "both |\n| `m` | same |\n| `m` | same |\n"));
  EXPECT_EQ(text_at(places, "diff", "", "n"), "none");
  EXPECT_EQ(text_at(places, "diff", "", "m"), "same");
}

TEST(Definitions, AcceptsIrregularText) {
  EXPECT_TRUE(parse_definitions("").empty());
  EXPECT_TRUE(parse_definitions("|").empty());
  EXPECT_TRUE(parse_definitions("|\n|---|\n|").empty());
  EXPECT_TRUE(parse_definitions("| `a | b |\n|---|---|\n| `open | text |").empty());
}

}  // namespace
}  // namespace assay
