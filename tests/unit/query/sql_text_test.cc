#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/duckdb.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitStatements, CutsAtSemicolonsAndKeepsWhatFollowsTheLast) {
  const Statements statements = split_statements("select 1; select 2 ;\n select 3");
  EXPECT_THAT(statements.complete, ElementsAre("select 1", " select 2 "));
  EXPECT_EQ(statements.rest, "\n select 3");
}

TEST(SplitStatements, LeavesOutWhatSaysNothing) {
  const Statements statements = split_statements(" ;; /* only; a comment */ ; -- another; one\n ");
  EXPECT_THAT(statements.complete, IsEmpty());
  EXPECT_EQ(statements.rest, "");
}

TEST(SplitStatements, SemicolonsInQuotesAndCommentsDoNotCut) {
  for (const char* sql : {"select ';'", "select 'it''s; so'", "select \"a;b\"",
                          "select 1 -- x; y\n + 2", "select /* a; /* nested; */ b; */ 1",
                          "select $$ a; b $$", "select $tag$ a; $$ ; $tag$", "select E'a\\'; b'"}) {
    const Statements statements = split_statements(std::string(sql) + ";");
    EXPECT_THAT(statements.complete, ElementsAre(sql));
    EXPECT_EQ(statements.rest, "");
  }
}

TEST(SplitStatements, AQuoteThatIsNotClosedTakesTheRest) {
  const Statements statements = split_statements("select 1; select 'a; select 2;");
  EXPECT_THAT(statements.complete, ElementsAre("select 1"));
  EXPECT_EQ(statements.rest, " select 'a; select 2;");
}

TEST(SplitStatements, ADollarOfAParameterStartsNoQuote) {
  EXPECT_THAT(split_statements("select $1; select a$b$c;").complete,
              ElementsAre("select $1", " select a$b$c"));
}

TEST(SqlText, QuotesAreDoubled) {
  EXPECT_EQ(sql_text("it's"), "'it''s'");
  EXPECT_EQ(sql_identifier("a\"b"), "\"a\"\"b\"");
}

}  // namespace
}  // namespace assay
