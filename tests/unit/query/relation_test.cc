#include "query/relation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/relation_maker.h"

namespace assay {
namespace {

using testing::cells_of;
using ::testing::ElementsAre;

Catalog one(int64_t rank, std::vector<RelationColumn> columns, size_t rows,
            std::vector<ReadCells> cells) {
  Catalog catalog;
  catalog.relations.push_back({"t", "", std::move(columns), {{rank, rows, std::move(cells)}}});
  return catalog;
}

TEST(Catalog, PartsOfOneNameAreOneTable) {
  Catalog catalog = one(0, {{"a"}}, 2, {testing::integers({1, 2})});
  catalog.merge(one(5, {{"a"}}, 1, {testing::integers({3})}));
  ASSERT_EQ(catalog.relations.size(), 1u);
  EXPECT_EQ(catalog.find("t")->rows(), 3u);
  EXPECT_EQ(catalog.find("t")->parts[1].rank, 5);
  EXPECT_EQ(catalog.find("nothing"), nullptr);
}

TEST(Catalog, AColumnThatOnlySomeInputsHaveIsMissingInTheOthers) {
  Catalog catalog = one(0, {{"a"}}, 1, {testing::integers({1})});
  catalog.merge(one(1, {{"b", CellType::kText}}, 1, {testing::texts({"x"})}));
  const Relation& table = *catalog.find("t");
  ASSERT_EQ(table.columns.size(), 2u);
  EXPECT_FALSE(cells_of(table, "a", 0).is_missing(0));
  EXPECT_TRUE(cells_of(table, "b", 0).is_missing(0));
  EXPECT_TRUE(cells_of(table, "a", 1).is_missing(0));
  EXPECT_THAT(cells_of(table, "b", 1).texts, ElementsAre("x"));
}

TEST(Catalog, MergedTitlesKeepTheirCommonPart) {
  const auto merged = [](const std::vector<std::string>& titles) {
    Catalog catalog;
    for (const std::string& title : titles) {
      Catalog other;
      other.relations.push_back({"t", title});
      catalog.merge(std::move(other));
    }
    return catalog.find("t")->meaning;
  };
  EXPECT_EQ(merged({"Names (10 of 40 names)", "Names (10 of 40 names)"}), "Names (10 of 40 names)");
  EXPECT_EQ(merged({"Names (10 of 40 names)", "Names (10 of 41 names)"}), "Names");
  EXPECT_EQ(merged({"Names (10 of 40)", "Names"}), "Names");
  EXPECT_EQ(merged({"Names (10 of 40)", "Names", "Names (10 of 40)"}), "Names");
  EXPECT_EQ(merged({"Times of gemm", "Times of gelu"}), "Times of");
  EXPECT_EQ(merged({"One", "Two"}), "");
}

TEST(Catalog, WholeNumbersBecomeRealWhereAnotherInputHasReals) {
  const RelationColumn whole{"a", CellType::kInteger};
  const RelationColumn real{"a", CellType::kReal};
  Catalog forward = one(0, {whole}, 1, {testing::integers({7})});
  forward.merge(one(1, {real}, 1, {testing::reals({0.5})}));
  Catalog backward = one(1, {real}, 1, {testing::reals({0.5})});
  backward.merge(one(0, {whole}, 1, {testing::integers({7})}));
  for (const Catalog* catalog : {&forward, &backward}) {
    const Relation& table = *catalog->find("t");
    EXPECT_EQ(table.columns[0].type, CellType::kReal);
    const size_t first = table.parts[0].rank == 0 ? 0 : 1;
    EXPECT_THAT(cells_of(table, "a", first).reals, ElementsAre(7.0));
    EXPECT_THAT(cells_of(table, "a", 1 - first).reals, ElementsAre(0.5));
  }
}

}  // namespace
}  // namespace assay
