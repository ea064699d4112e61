#include "query/table_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

std::string csv(std::string_view text) {
  std::string out;
  append_csv_text(text, out);
  return out;
}

TEST(TableText, CsvQuotesIfNeededAndSeparatesEmptyFromMissing) {
  EXPECT_EQ(csv("plain"), "plain");
  EXPECT_EQ(csv(""), "\"\"");
  EXPECT_EQ(csv("a,b"), "\"a,b\"");
  EXPECT_EQ(csv("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv("a\r\nb"), "\"a\r\nb\"");
  EXPECT_EQ(csv(" a"), "\" a\"");
  EXPECT_EQ(csv("=1+1"), "=1+1") << "exports keep what was recorded";
}

TEST(TableText, NumbersReadBackToTheSameBitsAndMissingIsNothing) {
  Cells cells;
  cells.reals = {0.1, std::nan(""), 1e300};
  cells.missing = {0, 0, 1};
  std::string row;
  for (size_t i = 0; i < 3; ++i) {
    append_csv(cells, CellType::kReal, i, row);
    row += ',';
  }
  EXPECT_EQ(row, "0.1,,,");
  row.clear();
  append_json(cells, CellType::kReal, 1, row);
  EXPECT_EQ(row, "null");
  Cells whole;
  whole.integers = {INT64_MIN};
  whole.unsigneds = {UINT64_MAX};
  row.clear();
  append_csv(whole, CellType::kInteger, 0, row);
  append_json(whole, CellType::kUnsigned, 0, row);
  EXPECT_EQ(row, "-922337203685477580818446744073709551615");
}

}  // namespace
}  // namespace assay
