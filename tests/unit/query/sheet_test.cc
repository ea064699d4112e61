#include "query/sheet.h"

#include <gtest/gtest.h>

#include "support/relation_maker.h"

namespace assay {
namespace {

// count letters, and what follows them.
std::string letters(size_t count, const char* ending = "") {
  std::string text;
  text.resize(count, 'x');
  return text.append(ending);
}

constexpr int64_t kEpoch = 1'700'000'000'000'000'000;

TEST(SheetNames, AreLegalShortAndDistinct) {
  SheetNames names;
  EXPECT_EQ(names.take("ops"), "ops");
  EXPECT_EQ(names.take("OPS"), "OPS~2") << "Excel does not tell cases apart";
  EXPECT_EQ(names.take("a[b]:c*d?e/f\\g'h"), "a_b__c_d_e_f_g_h");
  EXPECT_EQ(names.take("History"), "History~2") << "Excel keeps that name to itself";
  EXPECT_EQ(names.take(""), "table");
  const std::string lengthy = letters(40);
  EXPECT_EQ(names.take(lengthy), letters(31));
  EXPECT_EQ(names.take(lengthy), letters(29, "~2"));
  EXPECT_EQ(names.take("ops", 2), "ops (2)");
  EXPECT_EQ(names.take(lengthy, 12), letters(26, " (12)"));
}

TEST(SheetText, IsCleanAndNothingIsAnEscape) {
  EXPECT_EQ(sheet_text("=1+1").text, "=1+1") << "written as text, not changed";
  EXPECT_EQ(sheet_text("_x0041_").text, "_x005F_x0041_");
  EXPECT_EQ(sheet_text("_x004_").text, "_x004_");
  EXPECT_EQ(sheet_text("a\x01"
                       "b\nc")
                .text,
            "a\ufffdb c");
}

TEST(SheetText, IsCutWhereACellEnds) {
  const SheetText fits = sheet_text(letters(32'767));
  EXPECT_FALSE(fits.cut);
  EXPECT_EQ(fits.text.size(), 32'767u);
  const SheetText cut = sheet_text(letters(32'768));
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.text, letters(32'766, "\u2026"));
  // Excel counts two for each of these.
  std::string faces;
  for (int i = 0; i < 16'384; ++i) faces += "\U0001f600";
  EXPECT_TRUE(sheet_text(faces).cut);
}

Relation column_of(RelationColumn column, std::vector<std::optional<int64_t>> values) {
  const size_t rows = values.size();
  return {"t", "", {std::move(column)}, {{0, rows, {testing::integers(std::move(values))}}}};
}

TEST(SheetCells, OnlyWhatExcelCannotHoldIsWrittenOtherwise) {
  const RelationColumn time{"start_ns", CellType::kInteger, "ns"};
  const RelationColumn id{"id", CellType::kInteger, "id"};
  EXPECT_EQ(sheet_cells(column_of(time, {5, kSheetExact}), 0, kEpoch), SheetCells::kNumbers);
  EXPECT_EQ(sheet_cells(column_of(time, {kEpoch, {}, kEpoch + 5}), 0, kEpoch), SheetCells::kSince);
  EXPECT_EQ(sheet_cells(column_of(time, {kEpoch, 0}), 0, kEpoch), SheetCells::kAsText)
      << "0 is no time near the others";
  EXPECT_EQ(sheet_cells(column_of(id, {kSheetExact + 1}), 0, kEpoch), SheetCells::kAsText);
  EXPECT_EQ(sheet_cells(column_of(time, {INT64_MIN, INT64_MAX}), 0, kEpoch), SheetCells::kAsText);
  const Relation addresses{"t",
                           "",
                           {{"addr", CellType::kUnsigned, "address"}},
                           {{0, 1, {testing::unsigneds({UINT64_MAX})}}}};
  EXPECT_EQ(sheet_cells(addresses, 0, {}), SheetCells::kAsText);
}

TEST(SheetCells, TheOriginIsTheSmallestTimeThatIsTooLarge) {
  Catalog catalog;
  catalog.relations.push_back(column_of({"start_ns", CellType::kInteger, "ns"}, {kEpoch + 9, 3}));
  catalog.relations.push_back(column_of({"end_ns", CellType::kInteger, "ns"}, {kEpoch + 4, {}}));
  catalog.relations.push_back(column_of({"flow", CellType::kInteger, "id"}, {kSheetExact + 1}));
  EXPECT_EQ(sheet_origin(catalog), kEpoch + 4);
  catalog.relations.erase(catalog.relations.begin(), catalog.relations.begin() + 2);
  EXPECT_FALSE(sheet_origin(catalog).has_value());
}

TEST(SheetHeader, SaysTheUnitOnce) {
  EXPECT_EQ(sheet_header({"dur_ns", CellType::kInteger, "ns"}, SheetCells::kNumbers), "dur_ns");
  EXPECT_EQ(sheet_header({"kernels", CellType::kInteger, "count"}, SheetCells::kNumbers),
            "kernels (count)");
  EXPECT_EQ(sheet_header({"name", CellType::kText, "string"}, SheetCells::kNumbers), "name");
  EXPECT_EQ(sheet_header({"start_ns", CellType::kInteger, "ns"}, SheetCells::kSince),
            "start_ns (since T0)");
  EXPECT_EQ(sheet_header({"addr", CellType::kUnsigned, "address"}, SheetCells::kAsText),
            "addr (address) (as text)");
}

}  // namespace
}  // namespace assay
