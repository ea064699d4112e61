#include "query/trust_sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

Section trust(std::vector<Row> rows) {
  Table table{.key = "caveats",
              .columns = {{.key = "code", .title = "what"},
                          {.key = "count", .title = "count"},
                          {.key = "time_ns", .title = "time_ns"},
                          {.key = "affects", .title = "affects"},
                          {.key = "text", .title = "text"}},
              .rows = std::move(rows)};
  return {.key = "", .title = "", .blocks = {std::move(table)}};
}

TEST(TrustSentences, HaveTheCountAndTheTimeAtStake) {
  Document document;
  document.sections = {trust({{"unknown", 1200, 2'500'000, "tklqt_ns", "moves it by this time"},
                              {"odd", 3, 0, "", "changes nothing"}})};
  EXPECT_THAT(trust_sentences(document, ""),
              ElementsAre("unknown: 1,200, 2.50 ms at stake. moves it by this time",
                          "odd: 3. changes nothing"));
}

TEST(TrustSentences, CaveatsOfSeveralInputsAreMerged) {
  Document document;
  document.sections = {trust({})};
  for (const int64_t n : {1, 3, 2}) {
    Part part;
    part.sections = {trust({{"late", n, n * 1000, "", "late by " + std::to_string(n) + " us"}})};
    document.parts.push_back(std::move(part));
  }
  document.parts[1].sections.push_back(trust({{"odd", 5, 0, "", "changes nothing"}}));
  EXPECT_THAT(
      trust_sentences(document, "rank"),
      ElementsAre("late: 6 on 3 of 3 ranks, 6.00 \u00b5s at stake. late by 3 us (in the words of "
                  "the rank with most)",
                  "odd: 5 on 1 of 3 ranks. changes nothing"));
}

}  // namespace
}  // namespace assay
