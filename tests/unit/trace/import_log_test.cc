#include "trace/import_log.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace assay {
namespace {

TEST(ImportLog, CountsAndKeepsTheSmallestOffset) {
  ImportLog log;
  EXPECT_EQ(log.entry(ImportCode::kWrongType).count, 0u);
  EXPECT_EQ(log.entry(ImportCode::kWrongType).first_offset, -1);
  log.add(ImportCode::kWrongType);
  EXPECT_EQ(log.entry(ImportCode::kWrongType).first_offset, -1);
  log.add(ImportCode::kWrongType, 300);
  log.add(ImportCode::kWrongType, 200, 5);
  log.add(ImportCode::kWrongType, 250);
  log.add(ImportCode::kWrongType, 1, 0);  // nothing was seen
  EXPECT_EQ(log.entry(ImportCode::kWrongType).count, 8u);
  EXPECT_EQ(log.entry(ImportCode::kWrongType).first_offset, 200);
}

TEST(ImportLog, MergeAdds) {
  ImportLog a;
  ImportLog b;
  a.add(ImportCode::kNanLiteral, 70);
  b.add(ImportCode::kNanLiteral, 50, 2);
  b.add(ImportCode::kTruncated);
  a.merge(b);
  EXPECT_EQ(a.entry(ImportCode::kNanLiteral).count, 3u);
  EXPECT_EQ(a.entry(ImportCode::kNanLiteral).first_offset, 50);
  EXPECT_EQ(a.entry(ImportCode::kTruncated).count, 1u);
  EXPECT_EQ(a.entry(ImportCode::kTruncated).first_offset, -1);
}

TEST(ImportLog, OnlyDataLossIsDataLost) {
  ImportLog log;
  log.add(ImportCode::kWholeMicroseconds);
  log.add(ImportCode::kNegativeDuration, 4);
  EXPECT_FALSE(log.data_lost());
  log.add(ImportCode::kTruncated, 9);
  EXPECT_TRUE(log.data_lost());
}

TEST(ImportLog, EveryCodeHasItsOwnKeyAndAMeaning) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < kImportCodes; ++i) {
    const ImportCodeInfo& info = import_code_info(static_cast<ImportCode>(i));
    EXPECT_FALSE(info.key.empty());
    EXPECT_FALSE(info.meaning.empty()) << info.key;
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
  }
  EXPECT_EQ(import_code_info(ImportCode::kTruncated).key, "truncated");
  EXPECT_EQ(severity_name(import_code_info(ImportCode::kTruncated).severity), "data_loss");
  EXPECT_EQ(severity_name(Severity::kInfo), "info");
  EXPECT_EQ(severity_name(Severity::kRepaired), "repaired");
}

}  // namespace
}  // namespace assay
