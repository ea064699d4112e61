#include "query/duckdb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/relation_maker.h"
#include "support/scratch.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// The library is looked for once per process: these come before all that use it.
TEST(DuckDbMissing, TheMessageSaysHowToGetIt) {
  ::setenv("DUCKDB_ROOT", "/nowhere", 1);
  const auto database = Database::open(Catalog{}, {});
  ::unsetenv("DUCKDB_ROOT");
  ASSERT_FALSE(database.has_value());
  EXPECT_THAT(database.error().describe(), HasSubstr("tools/install_deps.sh query"));
  EXPECT_THAT(database.error().describe(), HasSubstr("DUCKDB_ROOT"));
}

TEST(DuckDbMissing, AnotherLibraryOfThatNameIsRefused) {
  const testing::Scratch scratch("");
  const std::filesystem::path folder = scratch.path;
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(ASSAY_FAKE_EMPTY, folder / "libduckdb.so",
                             std::filesystem::copy_options::overwrite_existing);
  ::setenv("DUCKDB_ROOT", folder.c_str(), 1);
  const auto database = Database::open(Catalog{}, {});
  ::unsetenv("DUCKDB_ROOT");
  ASSERT_FALSE(database.has_value());
  EXPECT_THAT(database.error().describe(), HasSubstr("duckdb_"));
}

class DuckDb : public ::testing::Test {
 protected:
  void SetUp() override {
    Relation table{"t",
                   "",
                   {{"whole"},
                    {"large", CellType::kUnsigned},
                    {"real", CellType::kReal},
                    {"name", CellType::kText},
                    {"flag", CellType::kBool}},
                   {}};
    table.parts.push_back(
        {4,
         2,
         {testing::integers({INT64_MAX, {}}), testing::unsigneds({UINT64_MAX, 1}),
          testing::reals({0.5, -1}), testing::texts({"a\"b", ""}), testing::bools({true, false})}});
    table.parts.push_back({9,
                           1,
                           {testing::integers({7}), testing::unsigneds({2}), testing::reals({2}),
                            testing::texts({"\u00b5"}), testing::bools({true})}});
    catalog_.relations.push_back(std::move(table));
    auto database = Database::open(catalog_, {});
    if (!database && database.error().describe().find("install_deps.sh") != std::string::npos) {
      GTEST_SKIP() << "DuckDB is not here";
    }
    ASSERT_TRUE(database.has_value()) << database.error().describe();
    database_ = *std::move(database);
  }

  std::vector<Row> rows(const std::string& sql) {
    auto result = database_->query(sql);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().describe());
    std::vector<Row> all;
    for (; result.has_value();) {
      auto some = (*result)->next();
      if (!some || some->empty()) break;
      all.insert(all.end(), some->begin(), some->end());
    }
    return all;
  }
  std::string error(const std::string& sql) {
    const auto result = database_->query(sql);
    return result ? "" : result.error().describe();
  }

  Catalog catalog_;
  std::unique_ptr<Database> database_;
};

TEST_F(DuckDb, EveryTypeAndMissingCellsArriveAsTheyAre) {
  const std::vector<Row> all = rows("select * from t order by rank, real desc");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], (Row{4, INT64_MAX, "18446744073709551615", 0.5, "a\"b", true}));
  EXPECT_EQ(all[1], (Row{4, Value(), 1, -1.0, "", false}));
  EXPECT_EQ(all[2], (Row{9, 7, 2, 2.0, "\u00b5", true}));
}

TEST_F(DuckDb, RankIsTheInputInEveryTable) {
  EXPECT_EQ(rows("select count(*) from t where rank = 4"), (std::vector<Row>{{2}}));
  EXPECT_EQ(rows("select name from t where rank = 9"), (std::vector<Row>{{"\u00b5"}}));
}

TEST_F(DuckDb, ErrorsCarryDuckDbsOwnWords) {
  EXPECT_THAT(error("select nothing from t"), HasSubstr("Binder Error"));
  EXPECT_THAT(error("select * from nowhere"), HasSubstr("Catalog Error"));
  EXPECT_THAT(error("selec"), HasSubstr("Parser Error"));
  EXPECT_THAT(error("select * from read_csv('/etc/passwd')"), HasSubstr("Permission Error"));
  EXPECT_THAT(error("set enable_external_access = true"), HasSubstr("rror"));
}

TEST_F(DuckDb, UnrepresentableValuesBecomeText) {
  EXPECT_EQ(rows("select date '2020-01-02' as d, [1, 2] as l, 1.50::decimal(4,2) as n"),
            (std::vector<Row>{{"2020-01-02", "[1, 2]", "1.50"}}));
}

TEST_F(DuckDb, AWrongSizeOfMemoryIsSaid) {
  const auto database = Database::open(catalog_, {.memory_limit = "much"});
  ASSERT_FALSE(database.has_value());
  EXPECT_THAT(database.error().describe(), HasSubstr("--memory much"));
}

}  // namespace
}  // namespace assay
