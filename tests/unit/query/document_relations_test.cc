#include "query/document_relations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/relation_maker.h"

namespace assay {
namespace {

using testing::cells_of;
using ::testing::ElementsAre;

Part part_of(std::vector<Block> blocks) {
  Part part;
  part.name = "a.json";
  part.sections.push_back({.key = "room", .title = "", .blocks = std::move(blocks)});
  return part;
}

Catalog catalog_of(std::vector<Block> blocks) {
  return part_catalog(part_of(std::move(blocks)), 2, {});
}

TEST(DocumentRelations, FactsOfOneObjectAreOneRow) {
  Facts first{.key = "whole", .items = {{"n", "n", 3, Unit::kCount}}};
  Facts second{.key = "whole", .items = {{"share", "share", 0.5, Unit::kShare}}};
  const Catalog catalog = catalog_of({first, second});
  const Relation& facts = *catalog.find("room_whole");
  EXPECT_TRUE(facts.facts);
  EXPECT_EQ(facts.rows(), 1u);
  EXPECT_THAT(cells_of(facts, "n").integers, ElementsAre(3));
  EXPECT_THAT(cells_of(facts, "share").reals, ElementsAre(0.5));
  EXPECT_EQ(facts.columns[1].unit, "share");
}

TEST(DocumentRelations, TextForReadersIsNotData) {
  Facts facts{.key = "f", .items = {{"seen", "", 1}, {"not", "", 2}}};
  facts.items[1].show = Show::kReadersOnly;
  Table hidden{.key = "t", .columns = {{"a", "a"}}, .rows = {{1}}, .show = Show::kReadersOnly};
  const Catalog catalog = catalog_of({facts, hidden});
  EXPECT_EQ(catalog.find("room_f")->columns.size(), 1u);
  EXPECT_EQ(catalog.find("room_t"), nullptr);
}

TEST(DocumentRelations, TypesFollowTheValues) {
  Table table{.key = "t",
              .columns = {{"time_ns", "", Unit::kNanoseconds},
                          {"name", "", Unit::kText},
                          {"share", "", Unit::kShare},
                          {"flag", ""}},
              .rows = {{5, "x", 1, true}, {Value(), "y", 0.25}}};
  const Catalog catalog = catalog_of({table});
  const Relation& rows = *catalog.find("room_t");
  EXPECT_EQ(rows.columns[0].type, CellType::kInteger);
  EXPECT_EQ(rows.columns[1].type, CellType::kText);
  EXPECT_EQ(rows.columns[2].type, CellType::kReal);
  EXPECT_EQ(rows.columns[3].type, CellType::kBool);
  EXPECT_TRUE(cells_of(rows, "time_ns").is_missing(1));
  EXPECT_TRUE(cells_of(rows, "flag").is_missing(1)) << "a row may end early";
  EXPECT_THAT(cells_of(rows, "share").reals, ElementsAre(1.0, 0.25));
}

TEST(DocumentRelations, WordsAmongNumbersHaveAColumnOfTheirOwn) {
  Table table{
      .key = "t", .columns = {{"time_ns", "", Unit::kNanoseconds}}, .rows = {{7}, {"refused"}}};
  const Catalog catalog = catalog_of({table});
  const Relation& rows = *catalog.find("room_t");
  ASSERT_EQ(rows.columns.size(), 2u);
  EXPECT_EQ(rows.columns[1].name, "time_ns_note");
  EXPECT_TRUE(cells_of(rows, "time_ns").is_missing(1));
  EXPECT_TRUE(cells_of(rows, "time_ns_note").is_missing(0));
  EXPECT_EQ(cells_of(rows, "time_ns_note").texts[1], "refused");
}

TEST(DocumentRelations, NodesOfATreeKnowTheirParent) {
  Tree tree{.key = "tree", .nodes = {{0, "job", {}}, {1, "a", {}}, {2, "b", {}}, {1, "c", {}}}};
  const Catalog catalog = catalog_of({tree});
  const Relation& rows = *catalog.find("room_tree");
  const Cells parents = cells_of(rows, "parent");
  EXPECT_TRUE(parents.is_missing(0));
  EXPECT_EQ(parents.integers[1], 0);
  EXPECT_EQ(parents.integers[2], 1);
  EXPECT_EQ(parents.integers[3], 0);
  EXPECT_THAT(cells_of(rows, "name").texts, ElementsAre("job", "a", "b", "c"));
}

TEST(DocumentRelations, ElementsAreRowsThatSayWhichTheyAre) {
  Elements list{.key = "kernels"};
  for (const int n : {10, 20}) {
    Facts facts{.items = {{"n", "", n}}};
    list.elements.push_back({Section{.key = "", .title = "", .blocks = {facts}}});
  }
  const Catalog catalog = catalog_of({list});
  const Relation& rows = *catalog.find("room_kernels");
  EXPECT_THAT(cells_of(rows, "element").integers, ElementsAre(0, 1));
  EXPECT_THAT(cells_of(rows, "n").integers, ElementsAre(10, 20));
}

TEST(DocumentRelations, RankAndNamesOfTraceTablesStayTheInputs) {
  Table table{.key = "ops", .columns = {{"rank", ""}, {"A.b c", ""}}, .rows = {{1, 2}}};
  Part part;
  part.sections.push_back({.key = "", .title = "", .blocks = {table}});
  Catalog taken;
  taken.relations.push_back({"ops"});
  const Catalog catalog = part_catalog(part, 0, taken);
  const Relation* rows = catalog.find("report_ops");
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->columns[0].name, "rank_told");
  EXPECT_EQ(rows->columns[1].name, "a_b_c");
}

TEST(DocumentRelations, InvalidUtf8IsReplaced) {
  Table table{.key = "t", .columns = {{"name", "", Unit::kText}}, .rows = {{"a\xff"}}};
  const Catalog catalog = catalog_of({table});
  EXPECT_EQ(cells_of(*catalog.find("room_t"), "name").texts[0], "a\ufffd");
}

TEST(DocumentRelations, PartsAreNamedByTheirRankIfAllDiffer) {
  Document document;
  for (const int64_t rank : {4, 2}) {
    Part part = part_of({Table{.key = "t", .columns = {{"a", ""}}, .rows = {{rank}}}});
    part.items.push_back({"rank", "rank", rank});
    document.parts.push_back(std::move(part));
  }
  document.verdict = {"words"};
  const Catalog told = parts_catalog(document);
  EXPECT_EQ(told.find("room_t")->parts[0].rank, 4);
  EXPECT_EQ(told.find("room_t")->parts[1].rank, 2);
  EXPECT_EQ(document_catalog(document).find("headline")->rows(), 1u);
  document.parts[1].items[0].value = 4;
  EXPECT_EQ(parts_catalog(document).find("room_t")->parts[1].rank, 1);
}

}  // namespace
}  // namespace assay
