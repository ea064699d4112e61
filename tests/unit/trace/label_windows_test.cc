#include "trace/label_windows.h"

#include <gtest/gtest.h>

#include "support/expect_windows.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::ExpectedWindow;
using testing::TraceMaker;

void expect_windows(const Trace& trace, std::string_view glob,
                    const std::vector<ExpectedWindow>& expected, uint64_t cut = 0) {
  const auto found = windows_by_label(trace, glob);
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->overlaps_cut, cut);
  testing::expect_windows(*found, WindowSource::kLabel, expected);
}

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches_glob("decode_3", "decode*"));
  EXPECT_TRUE(matches_glob("decode", "decode*"));
  EXPECT_TRUE(matches_glob("step[DECODE bs=8]", "step[DECODE*]"));
  EXPECT_TRUE(matches_glob("abcabd", "*ab?"));
  EXPECT_TRUE(matches_glob("", "*"));
  EXPECT_TRUE(matches_glob("aXbXc", "a*b*c"));
  EXPECT_FALSE(matches_glob("predecode", "decode*"));
  EXPECT_FALSE(matches_glob("decode", "Decode"));
  EXPECT_FALSE(matches_glob("decode", "decode?"));
  EXPECT_FALSE(matches_glob("", "?"));
}

TEST(LabelWindows, AreTheMatchingAnnotationsInOrder) {
  const Trace trace = TraceMaker()
                          .annotation(1, "decode 2", 200, 50)
                          .annotation(1, "prefill", 0, 90)
                          .annotation(1, "decode 1", 100, 50)
                          .build();
  expect_windows(trace, "decode*", {{"decode 1", 100, 150}, {"decode 2", 200, 250}});
}

TEST(LabelWindows, WindowsOfOneNameAreNumbered) {
  const Trace trace =
      TraceMaker().annotation(1, "step", 0, 10).annotation(1, "step", 20, 10).build();
  expect_windows(trace, "step", {{"step [1]", 0, 10}, {"step [2]", 20, 30}});
}

TEST(LabelWindows, InsideAnotherArePartOfItAndReachingOutOfItCutIt) {
  const Trace trace = TraceMaker()
                          .annotation(1, "decode", 0, 100)
                          .annotation(1, "decode.layer", 10, 20)
                          .annotation(2, "decode.tail", 80, 50)
                          .annotation(2, "decode.empty", 300, 0)
                          .build();
  expect_windows(trace, "decode*", {{"decode", 0, 80}, {"decode.tail", 80, 130}}, 1);
}

TEST(LabelWindows, FallBackToOperatorsAndThenToFrames) {
  const Trace trace = TraceMaker()
                          .annotation(1, "something", 0, 5)
                          .op(1, "model", 0, 100)
                          .op(1, "model", 10, 20)
                          .frame(1, "nn.Module: Llama_0", 200, 100)
                          .build();
  expect_windows(trace, "model", {{"model", 0, 100}});
  expect_windows(trace, "nn.Module: Llama*", {{"nn.Module: Llama_0", 200, 300}});
}

TEST(LabelWindows, ThatDoNotExistNameSomeThatDo) {
  const Trace trace = TraceMaker().annotation(1, "prefill", 0, 5).build();
  const auto found = windows_by_label(trace, "decode*");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(found.error().message.find("'decode*'"), std::string::npos);
  EXPECT_NE(found.error().message.find("'prefill'"), std::string::npos);
  EXPECT_FALSE(windows_by_label(Trace(), "*"));
}

}  // namespace
}  // namespace assay
