#include "query/columns_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "support/relation_maker.h"
#include "support/scratch.h"

namespace assay {
namespace {

using testing::bools;
using testing::integers;
using testing::reals;
using testing::texts;
using testing::unsigneds;

// The bytes of a file, and what its footer says.
struct WrittenTable {
  std::string bytes;
  nlohmann::json footer;

  template <typename T>
  std::vector<T> buffer(size_t column, size_t nth) const {
    return at<T>(footer["columns"][column]["buffers"][nth]);
  }
  template <typename T>
  std::vector<T> at(const nlohmann::json& place) const {
    const auto offset = place[0].get<size_t>();
    const auto size = place[1].get<size_t>();
    EXPECT_EQ(offset % 64, 0u);
    std::vector<T> values(size / sizeof(T));
    std::memcpy(values.data(), bytes.data() + offset, size);
    return values;
  }
};

WrittenTable written(const Relation& relation) {
  const testing::ScratchFolder folder;
  const std::string path = folder.file("table.columns");
  const Status status = write_columns_file(relation, relation.parts[0], path);
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
  WrittenTable table;
  table.bytes = *file_text(path);
  const size_t end = table.bytes.size();
  EXPECT_EQ(table.bytes.substr(0, 8), std::string("ASSAYC1\0", 8));
  EXPECT_EQ(table.bytes.substr(end - 8), std::string("ASSAYC1\0", 8));
  uint64_t length = 0;
  std::memcpy(&length, table.bytes.data() + end - 16, 8);
  table.footer = nlohmann::json::parse(table.bytes.substr(end - 16 - length, length));
  return table;
}

TEST(ColumnsFile, HoldsArrowsBuffers) {
  Relation relation{.name = "t", .meaning = "things"};
  relation.columns = {{"n", CellType::kInteger, "ns", "a \"number\""},
                      {"u", CellType::kUnsigned},
                      {"r", CellType::kReal},
                      {"s", CellType::kText},
                      {"b", CellType::kBool}};
  relation.parts = {{.rank = 3,
                     .rows = 3,
                     .columns = {integers({7, std::nullopt, -9}), unsigneds({1, UINT64_MAX, 0}),
                                 reals({0.5, std::numeric_limits<double>::quiet_NaN(), -2}),
                                 texts({"gemm", "", "gemm"}), bools({true, false, true})}}};
  const WrittenTable table = written(relation);
  const auto& footer = table.footer;
  EXPECT_EQ(footer["version"], 1);
  EXPECT_EQ(footer["name"], "t");
  EXPECT_EQ(footer["rank"], 3);
  EXPECT_EQ(footer["rows"], 3);
  const auto& columns = footer["columns"];
  EXPECT_EQ(columns[0]["type"], "int64");
  EXPECT_EQ(columns[0]["unit"], "ns");
  EXPECT_EQ(columns[0]["meaning"], "a \"number\"");
  EXPECT_EQ(table.buffer<int64_t>(0, 0), (std::vector<int64_t>{7, 0, -9}));
  EXPECT_EQ(columns[0]["nulls"], 1);
  EXPECT_EQ(table.at<uint8_t>(columns[0]["valid"]), std::vector<uint8_t>{0b101});
  EXPECT_EQ(table.buffer<uint64_t>(1, 0), (std::vector<uint64_t>{1, UINT64_MAX, 0}));
  EXPECT_FALSE(columns[1].contains("valid"));
  // What is no number is missing, as in the other exports.
  EXPECT_EQ(columns[2]["nulls"], 1);
  EXPECT_EQ(table.at<uint8_t>(columns[2]["valid"]), std::vector<uint8_t>{0b101});
  EXPECT_EQ(columns[3]["type"], "text");
  EXPECT_EQ(table.buffer<int32_t>(3, 0), (std::vector<int32_t>{0, 1, 0}));
  EXPECT_EQ(table.buffer<int64_t>(3, 1), (std::vector<int64_t>{0, 4, 4}));
  EXPECT_EQ(table.buffer<char>(3, 2), (std::vector<char>{'g', 'e', 'm', 'm'}));
  EXPECT_EQ(table.buffer<uint8_t>(4, 0), std::vector<uint8_t>{0b101});
}

TEST(ColumnsFile, OfNoRowsHasEveryColumn) {
  Relation relation{.name = "none", .columns = {{"n"}, {"s", CellType::kText}}};
  relation.parts = {{.columns = {integers({}), texts({})}}};
  const WrittenTable table = written(relation);
  EXPECT_EQ(table.footer["rows"], 0);
  EXPECT_EQ(table.footer["columns"].size(), 2u);
  EXPECT_EQ(table.buffer<int64_t>(1, 1), std::vector<int64_t>{0}) << "an end per text, and a begin";
}

// More rows than are read at once: 16,384.
TEST(ColumnsFile, IsOneColumnOverAllBatches) {
  std::vector<std::optional<int64_t>> many(40'000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int64_t>(i) * 3;
  many[39'999].reset();
  Relation relation{.name = "many", .columns = {{"n"}}};
  relation.parts = {{.rows = many.size(), .columns = {integers(many)}}};
  const WrittenTable table = written(relation);
  const auto values = table.buffer<int64_t>(0, 0);
  ASSERT_EQ(values.size(), 40'000u);
  EXPECT_EQ(values[16'384], 49'152);
  EXPECT_EQ(values[39'998], 119'994);
  EXPECT_EQ(table.footer["columns"][0]["nulls"], 1);
  EXPECT_EQ(table.at<uint8_t>(table.footer["columns"][0]["valid"])[4999], 0b0111'1111);
}

TEST(ColumnsFile, SaysWhereItCannotWrite) {
  Relation relation{.name = "t", .parts = {{}}};
  const Status status = write_columns_file(relation, relation.parts[0], "/nowhere/t.columns");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().file, "/nowhere/t.columns");
}

}  // namespace
}  // namespace assay
