// Laws of every answer: what breaks one is found at its place, left out, and counted.

#include "report/document/self_check.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Document with(Block block) {
  Document document;
  document.sections = {{.key = "flow", .blocks = {std::move(block)}}};
  return document;
}

ShortAnswer whole_of(int64_t compute_ns, int64_t idle_ns, int64_t total_ns) {
  ShortAnswer answer;
  answer.causes = {{"compute", compute_ns}, {"dispatch", idle_ns}};
  answer.total_ns = answer.window_ns = total_ns;
  answer.confidence = findings::Confidence::kHigh;
  return answer;
}

TEST(SelfCheck, FindsShareAboveOneAndLeavesItOut) {
  Document document = with(Table{.key = "causes",
                                 .columns = {{"cause", "", Unit::kText}, {"share", "", Unit::kShare}},
                                 .rows = {{"compute", 0.5}, {"copy", 1.2}}});
  const std::vector<Breach> breaches = breaches_of(document);
  ASSERT_EQ(breaches.size(), 1u);
  EXPECT_EQ(breaches[0].place, "flow.causes[1].share");
  withhold(breaches, document);
  EXPECT_TRUE(breaches_of(document).empty());
  const auto& table = std::get<Table>(document.sections[0].blocks[0]);
  EXPECT_EQ(table.rows[0][1], Value(0.5));
  EXPECT_TRUE(table.rows[1][1].missing());
  ASSERT_EQ(document.import_log.size(), 1u);
  EXPECT_EQ(document.import_log[0].code, "self_check");
}

TEST(SelfCheck, ChangesAndErrorsMayExceedTheWhole) {
  EXPECT_TRUE(breaches_of(with(Facts{.items = {{"t_orch_change", "", -1.5, Unit::kShare},
                                               {"change_share", "", 1.5, Unit::kShare},
                                               {"mean_ape", "", 3.0, Unit::kShare},
                                               {"roofline_share", "", 1.1, Unit::kShare},
                                               {"error_share", "", -0.1, Unit::kShare},
                                               {"share", "", 1 + 1e-12, Unit::kShare}}}))
                  .empty());
}

TEST(SelfCheck, FindsNegativeCountButNotNegativeTimeOrPower) {
  const std::vector<Breach> breaches = breaches_of(with(Facts{.key = "a",
                                                              .items = {{"calls", "", -1, Unit::kCount},
                                                                        {"gain_ns", "", -1, Unit::kNanoseconds},
                                                                        {"headroom_w", "", -180, Unit::kWatts}}}));
  ASSERT_EQ(breaches.size(), 1u);
  EXPECT_EQ(breaches[0].place, "flow.a.calls");
}

TEST(SelfCheck, FindsValueOutsideItsInterval) {
  const auto row = [](int64_t low, int64_t value, int64_t high) {
    return with(Facts{.items = {{"gain_low_ns", "", low, Unit::kNanoseconds},
                                {"gain_ns", "", value, Unit::kNanoseconds},
                                {"gain_high_ns", "", high, Unit::kNanoseconds}}});
  };
  EXPECT_TRUE(breaches_of(row(1, 2, 3)).empty());
  EXPECT_TRUE(breaches_of(row(2, 2, 2)).empty());
  EXPECT_EQ(breaches_of(row(1, 4, 3)).size(), 3u);
  EXPECT_EQ(breaches_of(row(3, 2, 4)).size(), 3u);
}

TEST(SelfCheck, WordsOfIntervalsMustBeWholeWords) {
  EXPECT_TRUE(breaches_of(with(Facts{.items = {{"flow_ns", "", 1, Unit::kNanoseconds}, {"_ns", "", 0, Unit::kNanoseconds},
                                               {"slow_ns", "", 5, Unit::kNanoseconds}, {"s_ns", "", 0, Unit::kNanoseconds}}}))
                  .empty());
}

TEST(SelfCheck, CausesMustAddUp) {
  Document document;
  document.answer = whole_of(60, 40, 100);
  EXPECT_TRUE(breaches_of(document).empty());
  document.answer = whole_of(60, 41, 100);
  const std::vector<Breach> breaches = breaches_of(document);
  ASSERT_EQ(breaches.size(), 1u);
  EXPECT_EQ(breaches[0].place, "summary.causes");
  withhold(breaches, document);
  EXPECT_EQ(document.answer->confidence, findings::Confidence::kNone);
}

TEST(SelfCheck, NoActionSavesMoreThanTheRun) {
  Document document;
  document.answer = whole_of(60, 40, 100);
  document.answer->levers = {{.key = "graphs", .gain_ns = 30, .share = 0.3}, {.key = "kernels", .gain_ns = 101, .share = 1.01}};
  const std::vector<Breach> breaches = breaches_of(document);
  ASSERT_EQ(breaches.size(), 1u);
  EXPECT_EQ(breaches[0].place, "summary.actions[1]");
  withhold(breaches, document);
  ASSERT_EQ(document.answer->levers.size(), 1u);
  EXPECT_EQ(document.answer->levers[0].key, "graphs");
}

TEST(SelfCheck, FindsBreachesInPartsAndElements) {
  Document document;
  document.parts_key = "ranks";
  document.parts.resize(2);
  document.parts[1].sections = {
      {.key = "power",
       .blocks = {Elements{.key = "kernels",
                           .elements = {{{.key = "", .blocks = {Facts{.items = {{"idle_share", "", -0.1, Unit::kShare}}}}}}}}}}};
  const std::vector<Breach> breaches = breaches_of(document);
  ASSERT_EQ(breaches.size(), 1u);
  EXPECT_EQ(breaches[0].place, "ranks[1].power.kernels[0].idle_share");
}

}  // namespace
}  // namespace assay
