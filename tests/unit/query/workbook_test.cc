#include "query/workbook.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "query/sheet_zip.h"
#include "support/relation_maker.h"
#include "support/scratch.h"

namespace assay {
namespace {

class WorkbookFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!check_workbooks()) GTEST_SKIP() << "this build writes no workbooks";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  WorkbookContent rows(size_t count) {
    std::vector<std::optional<int64_t>> values(count, 1);
    WorkbookContent content{.head = head_};
    content.whole.relations.push_back(
        {"t", "", {{"a"}}, {{0, count, {testing::integers(std::move(values))}}}});
    return content;
  }
  bool has_sheet(uint32_t number) { return check_sheet_sizes(path_, {{number, 1}}).has_value(); }

  Document head_;
  std::string path_ = testing::scratch_path(".xlsx");
};

// Beside the table: Summary, numbers, definitions.
TEST_F(WorkbookFile, ATableLongerThanASheetGoesOnOnTheNext) {
  ASSERT_TRUE(write_workbook(rows(6), path_, 3).has_value());
  EXPECT_TRUE(has_sheet(5));
  EXPECT_FALSE(has_sheet(6));
  ASSERT_TRUE(write_workbook(rows(7), path_, 3).has_value());
  EXPECT_TRUE(has_sheet(6));
  EXPECT_FALSE(has_sheet(7));
}

TEST_F(WorkbookFile, AFolderThatIsNotThereIsAnError) {
  const Status status = write_workbook(rows(1), "/nowhere/at/all.xlsx");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
}

TEST_F(WorkbookFile, ASheetThatEndsEarlyIsNoticed) {
  ASSERT_TRUE(write_workbook(rows(1), path_).has_value());
  EXPECT_TRUE(check_sheet_sizes(path_, {{1, 100}}).has_value());
  EXPECT_FALSE(check_sheet_sizes(path_, {{1, 1'000'000}}).has_value());
  std::ofstream(path_, std::ios::trunc) << "no zip file";
  EXPECT_FALSE(check_sheet_sizes(path_, {{1, 1}}).has_value());
}

}  // namespace
}  // namespace assay
