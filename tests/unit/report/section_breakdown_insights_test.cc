#include <gtest/gtest.h>

#include "report/breakdown/insights.h"

namespace assay {
namespace {

Insight holds(int number, const std::string& config) {
  return {.number = number,
          .figure = "11",
          .state = InsightState::kHolds,
          .config = config,
          .from = 0.8,
          .low = 0.78,
          .high = 0.82,
          .n = 10,
          .share = 0.9};
}

TEST(LevelInsights, SaysWhatHoldsAndForWhichConfigurations) {
  const std::vector<std::string> words =
      insight_words({holds(5, "a"), holds(5, "b"), holds(5, "c")});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0],
            "80.0 % of the time without compute kernels in a is before the first or in the "
            "optimizer (78.0 % to 82.0 % at 95 %; 10 iterations). 90.0 % of that is collective "
            "wait, a late host at most 10.0 %. Likewise b, c. (Chopper, Insight 5, Figure 11)");
}

TEST(LevelInsights, SaysNothingOfWhatDoesNotHoldOrIsNotKnown) {
  Insight not_so = holds(5, "a");
  not_so.state = InsightState::kNot;
  Insight unknown = holds(7, "a");
  unknown.state = InsightState::kUnknown;
  EXPECT_TRUE(insight_words({not_so, unknown}).empty());
}

TEST(LevelInsights, SaysWhyOfTheOthersOnceForAllConfigurations) {
  std::vector<Insight> insights = {holds(5, "a"), holds(5, "b"), holds(7, "a"), holds(7, "b")};
  for (size_t i : {1u, 2u, 3u}) insights[i].state = InsightState::kUnknown;
  insights[1].state = InsightState::kNot;
  insights[1].why = "there is hardly any time between kernels";
  insights[2].why = insights[3].why = "no log of processor utilisation";
  const Prose reasons = insight_reasons(insights);
  ASSERT_EQ(reasons.paragraphs.size(), 2u);
  EXPECT_EQ(reasons.paragraphs[0],
            "Insight 5 of Chopper is not seen (b): there is hardly any time between kernels");
  EXPECT_EQ(reasons.paragraphs[1],
            "Insight 7 of Chopper is not known (a, b): no log of processor utilisation");
}

TEST(LevelInsights, ChangesOfSharesAreInPoints) {
  Insight one = holds(6, "b1s4");
  one.figure = "4";
  one.other = "b4s4";
  one.from = 0.12;
  one.to = 0.04;
  one.low = -0.09;
  one.high = -0.071;
  one.other_n = 12;
  EXPECT_EQ(insight_words({one}).at(0),
            "Launch overhead weighs less with more work: 12.0 % of the kernel time in b1s4, 4.0 % "
            "in b4s4 (-9.0 to -7.1 points at 95 %; 10 and 12 iterations). (Chopper, Insight 6, "
            "Figure 4)");
}

}  // namespace
}  // namespace assay
