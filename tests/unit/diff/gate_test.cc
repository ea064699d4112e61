#include "diff/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

using ::testing::HasSubstr;

// tklqt_ns 100 -> 120 us, interval of the change 5..35 us, 5..36 %; of B 110..130 us. hdbi 0.6 ->
// 0.4, interval of the change -0.3..-0.15. kernels stay at 40: -1..1.
DiffReport report_of(DiffNoise noise) {
  const bool known = noise != DiffNoise::kUnknown;
  DiffMetric tklqt;
  tklqt.key = "tklqt_ns";
  tklqt.a = 100'000;
  tklqt.b = 120'000;
  tklqt.change = 20'000;
  tklqt.change_share = 0.2;
  tklqt.noise = noise;
  tklqt.interval = {known, 5'000, 35'000};
  tklqt.share_interval = {known, 0.05, 0.36};
  tklqt.b_interval = {known, 110'000, 130'000};
  DiffMetric hdbi;
  hdbi.key = "hdbi";
  hdbi.unit = DiffUnit::kRatio;
  hdbi.a = 0.6;
  hdbi.b = 0.4;
  hdbi.change = -0.2;
  hdbi.change_share = -1.0 / 3;
  hdbi.noise = noise;
  hdbi.interval = {known, -0.3, -0.15};
  hdbi.share_interval = {known, -0.5, -0.25};
  hdbi.b_interval = {known, 0.35, 0.55};
  DiffMetric kernels;
  kernels.key = "kernels";
  kernels.unit = DiffUnit::kCount;
  kernels.a = kernels.b = 40;
  kernels.noise = known ? DiffNoise::kNoise : DiffNoise::kNoChange;
  kernels.interval = {known, -1, 1};
  kernels.share_interval = {known, -0.025, 0.025};
  kernels.b_interval = {known, 39, 41};
  DiffMetric share;
  share.key = "queue_share";
  share.unit = DiffUnit::kShare;
  share.a = std::nan("");
  share.b = 0.3;
  share.change = share.change_share = std::nan("");
  DiffReport report;
  report.metrics = {tklqt, hdbi, share, kernels};
  return report;
}

GateOutcome outcome(const char* text, DiffNoise noise = DiffNoise::kReal, bool any = false) {
  const auto gate = parse_gate(text);
  EXPECT_TRUE(gate) << text;
  const auto results = check_gates({*gate}, report_of(noise), any);
  EXPECT_TRUE(results) << text;
  return results->front().outcome;
}

std::string why_not(const char* text) {
  const auto gate = parse_gate(text);
  if (!gate) return gate.error().message;
  const auto results = check_gates({*gate}, report_of(DiffNoise::kReal), false);
  return results ? "" : results.error().message;
}

TEST(Gate, ReadsChangesAndLevels) {
  const auto relative = parse_gate("tklqt>+10%");
  ASSERT_TRUE(relative);
  EXPECT_EQ(relative->metric, "tklqt");
  EXPECT_EQ(relative->limit, GateLimit::kRelativeChange);
  EXPECT_DOUBLE_EQ(relative->value, 0.1);
  const auto change = parse_gate("time >= -1.5 us");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->limit, GateLimit::kChange);
  EXPECT_EQ(change->op, GateOp::kAtLeast);
  EXPECT_DOUBLE_EQ(change->value, -1500);
  const auto level = parse_gate("hdbi<0.5");
  ASSERT_TRUE(level);
  EXPECT_EQ(level->limit, GateLimit::kLevel);
  EXPECT_DOUBLE_EQ(level->value, 0.5);
}

TEST(Gate, CrossesBeyondItsLimitOnly) {
  EXPECT_EQ(outcome("tklqt>+4%"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("tklqt>+20%"), GateOutcome::kPassed);
  EXPECT_EQ(outcome("tklqt>=+5%"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("tklqt_ns>+4us"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("tklqt>+21us"), GateOutcome::kPassed);
  EXPECT_EQ(outcome("tklqt<-5%"), GateOutcome::kPassed);
  EXPECT_EQ(outcome("hdbi<-0.1"), GateOutcome::kCrossed);
}

TEST(Gate, AChangeIsCrossedWhenItsWholeIntervalLiesBeyond) {
  EXPECT_EQ(outcome("tklqt>+5%"), GateOutcome::kWithinNoise);  // touches the limit
  EXPECT_EQ(outcome("tklqt>+10%"), GateOutcome::kWithinNoise);
  EXPECT_EQ(outcome("tklqt>+6us"), GateOutcome::kWithinNoise);
  EXPECT_EQ(outcome("hdbi<-0.16"), GateOutcome::kWithinNoise);
  EXPECT_EQ(outcome("hdbi<-0.14"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("hdbi<-20%"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("hdbi<-30%"), GateOutcome::kWithinNoise);
}

// That nothing has changed is no excuse where the limit asks for a change, or allows less.
TEST(Gate, InsignificantChangeFailsALimitOutsideItsInterval) {
  EXPECT_EQ(outcome("kernels>-5%"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("kernels<+2"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("kernels>-1%"), GateOutcome::kWithinNoise);
  EXPECT_EQ(outcome("kernels>+0"), GateOutcome::kPassed);
  EXPECT_EQ(outcome("kernels>-5%", DiffNoise::kUnknown), GateOutcome::kUndecided);
}

TEST(Gate, ALevelIsCrossedWhenTheWholeIntervalOfBLiesBeyond) {
  EXPECT_EQ(outcome("hdbi<0.5"), GateOutcome::kWithinNoise);
  EXPECT_EQ(outcome("hdbi<0.56"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("hdbi<0.3"), GateOutcome::kPassed);
  EXPECT_EQ(outcome("tklqt>105us"), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("kernels<42"), GateOutcome::kCrossed);
}

TEST(Gate, UnknownNoiseIsNotAPass) {
  EXPECT_EQ(outcome("tklqt>+10%", DiffNoise::kUnknown), GateOutcome::kUndecided);
  EXPECT_EQ(outcome("tklqt>+30%", DiffNoise::kUnknown), GateOutcome::kPassed);
  EXPECT_EQ(outcome("hdbi<0.5", DiffNoise::kUnknown), GateOutcome::kUndecided);
  EXPECT_EQ(outcome("tklqt>+10%", DiffNoise::kUnknown, true), GateOutcome::kCrossed);
  EXPECT_EQ(outcome("tklqt>+10%", DiffNoise::kReal, true), GateOutcome::kCrossed);
}

TEST(Gate, ReportsTheIntervalComparedWithTheLimit) {
  const auto interval = [](const char* text) {
    return check_gates({*parse_gate(text)}, report_of(DiffNoise::kReal), false)->front().interval;
  };
  EXPECT_EQ(interval("tklqt>+10%").low, 0.05);
  EXPECT_EQ(interval("tklqt>+10us").high, 35'000);
  EXPECT_EQ(interval("tklqt>10us").low, 110'000);
}

TEST(Gate, MetricWithoutValueIsNotAPass) {
  EXPECT_EQ(outcome("queue_share>+1%"), GateOutcome::kNoValue);
  EXPECT_EQ(outcome("queue_share>+1%", DiffNoise::kReal, true), GateOutcome::kNoValue);
  EXPECT_EQ(outcome("queue_share<20%"), GateOutcome::kPassed);  // of B alone
}

TEST(Gate, RefusesWhatItCannotRead) {
  EXPECT_THAT(why_not("tklqt"), HasSubstr("no comparison"));
  EXPECT_THAT(why_not(">+10%"), HasSubstr("no metric"));
  EXPECT_THAT(why_not("tklqt>"), HasSubstr("no number"));
  EXPECT_THAT(why_not("tklqt>+x%"), HasSubstr("no number"));
  EXPECT_THAT(why_not("tklqt>+1..0%"), HasSubstr("no number"));
  EXPECT_THAT(why_not("tklqt>+10parsec"), HasSubstr("not a unit"));
  EXPECT_THAT(why_not("speed>+10%"), HasSubstr("tklqt_ns, hdbi, queue_share, kernels"));
  EXPECT_THAT(why_not("tklqt>+10"), HasSubstr("is a time"));
  EXPECT_THAT(why_not("tklqt>10%"), HasSubstr("not a percentage"));
  EXPECT_THAT(why_not("hdbi<1us"), HasSubstr("not a time"));
  EXPECT_EQ(why_not("tklqt>+0"), "");
}

}  // namespace
}  // namespace assay
