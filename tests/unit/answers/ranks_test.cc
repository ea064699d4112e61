#include "answers/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers/launch.h"
#include "answers/report.h"
#include "unit/answers/small_traces.h"

namespace assay {
namespace {

using testing::block_of;
using ::testing::ElementsAre;
using testing::Folder;
using testing::integer_of;
using ::testing::IsEmpty;
using testing::keys_of;
using testing::one_kernel_trace;
using testing::traces_at;

TEST(AnswerRanks, OneTraceIsTheDocument) {
  const Folder folder("one");
  const auto answer =
      answer_launch({.traces = traces_at({folder.add("a.json", one_kernel_trace(100))})});
  ASSERT_TRUE(answer) << answer.error().describe();
  const Document& document = answer->document;
  EXPECT_THAT(document.parts, IsEmpty());
  EXPECT_THAT(keys_of(document.sections), ElementsAre("launch", ""));
  const Facts& whole = block_of<Facts>(document.sections, "whole");
  EXPECT_EQ(integer_of(whole.items, "kernels"), 1);
  EXPECT_EQ(integer_of(whole.items, "tklqt_ns"), 7000);
  EXPECT_EQ(integer_of(whole.items, "il_ns"), 112000);
}

TEST(AnswerRanks, SeveralTracesAreParts) {
  const Folder folder("two");
  const std::string a = folder.add("r0.json", one_kernel_trace(100, 0, 4));
  const std::string b = folder.add("r1.json", one_kernel_trace(200, 1, 4));
  const auto answer = answer_launch({.traces = traces_at({b, a})});
  ASSERT_TRUE(answer) << answer.error().describe();
  const Document& document = answer->document;
  EXPECT_EQ(document.parts_key, "ranks");
  ASSERT_EQ(document.parts.size(), 2u);
  EXPECT_EQ(document.parts[0].name, b);
  EXPECT_EQ(document.parts[1].name, a);
  EXPECT_EQ(integer_of(block_of<Facts>(document.parts[0].sections, "whole").items, "il_ns"),
            212000);
  const Table& overview = block_of<Table>(document.sections, "overview");
  ASSERT_EQ(overview.rows.size(), 2u);
  EXPECT_EQ(overview.rows[0][0], Value(1));
  EXPECT_EQ(overview.rows[1][0], Value(0));
  EXPECT_THAT(document.verdict,
              ElementsAre("2 of 4 ranks are not in this set (2, 3): nothing here says how they "
                          "ran."));
}

TEST(AnswerRanks, ADuplicateRankIsReported) {
  const Folder folder("twice");
  const auto answer =
      answer_launch({.traces = traces_at({folder.add("a.json", one_kernel_trace(100, 0, 1)),
                                          folder.add("b.json", one_kernel_trace(100, 0, 1))})});
  ASSERT_TRUE(answer);
  const Table& trust = block_of<Table>(answer->document.sections, "caveats");
  ASSERT_EQ(trust.rows.size(), 1u);
  EXPECT_EQ(trust.rows[0][0], Value("repeated_ranks"));
}

TEST(AnswerRanks, AFailingAnalysisFailsTheAnswer) {
  const Folder folder("fails");
  const std::string path = folder.add("a.json", one_kernel_trace(100));
  bool concluded = false;
  const auto answer = answer_traces(
      traces_at({path}), "Any",
      [](const LoadedTrace&) -> Result<TraceContent> {
        return Error{ErrorCode::kUnsupported, "cannot", "", -1};
      },
      [&concluded](Document&) { concluded = true; });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "cannot");
  EXPECT_FALSE(concluded);
}

TEST(AnswerRanks, ReportOfOneJobComparesItsRanks) {
  const Folder folder("job");
  const auto answer =
      answer_report({.traces = traces_at({folder.add("r0.json", one_kernel_trace(100, 0, 2)),
                                          folder.add("r1.json", one_kernel_trace(100, 1, 2))})});
  ASSERT_TRUE(answer) << answer.error().describe();
  for (const Part& part : answer->document.parts) {
    EXPECT_THAT(keys_of(part.sections), ElementsAre("", "diagnosis", "untraced", "", "launch", "host_overhead",
                                                    "breakdown", "roofline", "fusion", ""));
  }
}

}  // namespace
}  // namespace assay
