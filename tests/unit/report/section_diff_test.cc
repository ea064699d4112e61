#include "report/diff/section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/writers/writers.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GateResult gate_of(const char* text, DiffUnit unit, double a, double b, double value,
                   GateOutcome outcome, ChangeInterval interval) {
  GateResult result;
  result.gate = *parse_gate(text);
  result.metric = result.gate.metric;
  result.outcome = outcome;
  result.unit = unit;
  result.a = a;
  result.b = b;
  result.value = value;
  result.interval = interval;
  return result;
}

TEST(SectionDiff, AChangeOfAShareIsInPoints) {
  EXPECT_EQ(diff_change_text(0.012, DiffUnit::kShare), "+1.20 pp");
  EXPECT_EQ(diff_change_text(-0.25, DiffUnit::kShare), "-25.0 pp");
  EXPECT_EQ(diff_change_text(0.0000341, DiffUnit::kShare), "+0.00341 pp");
  EXPECT_EQ(diff_change_text(0, DiffUnit::kShare), "0 pp");
  EXPECT_EQ(diff_interval_text({true, -0.01, 0.02}, DiffUnit::kShare), "-1.00 to +2.00 pp");
  EXPECT_EQ(diff_change_text(1500, DiffUnit::kNanoseconds), "+1.50 µs");
}

TEST(SectionDiff, ARelativeChangeIsInPercent) {
  EXPECT_EQ(diff_percent_text(0.2), "+20.0 %");
  EXPECT_EQ(diff_percent_text(0.0000341), "<+0.1 %");
  EXPECT_EQ(diff_percent_text(-0.0000341), "above -0.1 %");
}

TEST(SectionDiff, GateHasItsIntervalInTheUnitOfItsLimit) {
  EXPECT_EQ(gate_words(gate_of("queue_share>+0.01", DiffUnit::kShare, 0.3, 0.35, 0.05,
                               GateOutcome::kCrossed, {true, 0.02, 0.08})),
            "Crossed: queue_share went from 30.0 % to 35.0 % (+5.00 pp, 95 % interval +2.00 to "
            "+8.00 pp), above the limit of 'queue_share>+0.01'.");
  EXPECT_EQ(gate_words(gate_of("tklqt>+10%", DiffUnit::kNanoseconds, 1e5, 1.2e5, 0.2,
                               GateOutcome::kWithinNoise, {true, 0.05, 0.36})),
            "Passed, not significant: tklqt went from 100 µs to 120 µs (+20.0 %, 95 % interval "
            "+5.0 % to +36.0 %), above the limit of 'tklqt>+10%', but its interval reaches back to "
            "it: that may be chance.");
  EXPECT_EQ(gate_words(gate_of("kernels<60", DiffUnit::kCount, 70, 50, 50, GateOutcome::kCrossed,
                               {true, 48, 52})),
            "Crossed: kernels is 50 in B (95 % interval 48 to 52), below the limit of "
            "'kernels<60'.");
}

DiffRow row_of(const char* name, bool rest, DiffKind kind, int64_t change_ns) {
  DiffRow row;
  row.a.name = row.b.name = row.a.shown = row.b.shown = name;
  row.rest = rest;
  row.kind = kind;
  row.change_ns = change_ns;
  return row;
}

DiffReport noisy() {
  DiffReport report;
  report.a.samples = report.b.samples = 8;
  report.a.iterations = report.b.iterations = 8;
  report.a.time_ns = 150'000;
  report.b.time_ns = 152'000;
  report.change_ns = 2'000;
  report.time.a = 150'000;
  report.time.change = 2'000;
  report.time.change_share = 2.0 / 150;
  report.time.interval = {true, -5'500, 8'000};
  report.time.share_interval = {true, -0.04, 0.05};
  report.time.noise = DiffNoise::kNoise;
  return report;
}

// The interval's ends are 7.5 us and 6 us from the change.
TEST(SectionDiff, NoiseHasTheMinimumDetectableChange) {
  const std::vector<std::string> words = diff_words({noisy(), {}, {}});
  EXPECT_THAT(words[0], HasSubstr("No significant change: B is 1.3 % slower"));
  EXPECT_EQ(words[1],
            "With these iterations a change of the mean under about 7.50 \u00b5s (5.0 %) is not "
            "detectable.");
}

TEST(SectionDiff, OutlierIterationsDoNotHideTheTypicalOne) {
  DiffReport report = noisy();
  report.typical = {
      .known = true, .change = -28'000, .low = -29'000, .high = -27'000, .a = 140'000};
  EXPECT_THAT(diff_words({report, {}, {}}).at(0), HasSubstr("No significant change"));
  report.hidden_by_few = true;
  const std::vector<std::string> words = diff_words({report, {}, {}});
  EXPECT_THAT(
      words[0],
      HasSubstr(
          "The typical iteration is 20.0 % faster, statistically significant (-28.0 \u00b5s"));
  EXPECT_THAT(words[0], ::testing::Not(HasSubstr("No significant change")));
}

TEST(SectionDiff, TheSentenceOnKernelsLeavesOutRests) {
  DiffReport report;
  report.a.samples = report.b.samples = 1;
  DiffLevel& kernels = report.levels[static_cast<size_t>(DiffLevelKind::kKernel)];
  kernels.kind = DiffLevelKind::kKernel;
  kernels.rows = {row_of("(idle after the last work)", true, DiffKind::kAppeared, 5),
                  row_of("gemm", false, DiffKind::kAppeared, 4),
                  row_of("relu", false, DiffKind::kVanished, -3)};
  kernels.appeared = 2;
  kernels.vanished = 1;
  const std::vector<std::string> words = diff_words({report, {}, {}});
  EXPECT_THAT(words.back(), HasSubstr("1 appeared, 1 vanished and 0 were matched"));
}

// 8 iterations of A at an effective 2.6, of B at 1.
TEST(SectionDiff, TooFewIndependentIterationsAreNamed) {
  DiffReport report = noisy();
  report.too_few_independent = true;
  report.a.independent = 2.6;
  report.b.independent = 1;
  const std::vector<std::string> words = diff_words({report, {}, {}});
  EXPECT_THAT(words[0], HasSubstr("Too few independent iterations: B is 1.3 % slower"));
  EXPECT_THAT(words[1], HasSubstr("A's 8 iterations may be worth no more than 3 independent ones, "
                                  "B's 8 iterations may be worth no more than 1 independent one."));
}

// Without an interval, iterations that do not overlap still show the direction, and its sources.
TEST(SectionDiff, IterationsThatDoNotOverlapShowADirection) {
  DiffReport report = noisy();
  report.too_few_independent = true;
  report.apart = true;
  report.a.fastest_ns = 1'000;
  report.a.slowest_ns = 2'000;
  report.b.fastest_ns = 3'000;
  report.b.slowest_ns = 9'000;
  const std::vector<std::string> words = diff_words({report, {}, {}});
  EXPECT_THAT(words[0], ::testing::StartsWith("B is 1.3 % slower"));
  EXPECT_THAT(words[1], HasSubstr("Every iteration of B (3.00 \u00b5s to 9.00 \u00b5s) is slower "
                                  "than every one of A (1.00 \u00b5s to 2.00 \u00b5s)"));
}

// The tables use the words of the headline.
TEST(SectionDiff, TablesNameSignificanceLikeTheHeadline) {
  DiffReport report = noisy();
  DiffMetric metric;
  metric.key = "tklqt_ns";
  metric.noise = DiffNoise::kReal;
  report.metrics = {metric};
  DiffLevel& kernels = report.levels[static_cast<size_t>(DiffLevelKind::kKernel)];
  kernels.kind = DiffLevelKind::kKernel;
  kernels.rows = {row_of("gemm", false, DiffKind::kBoth, 9'000)};
  kernels.rows[0].noise = DiffNoise::kNoise;
  Document document;
  document.sections = diff_sections({report, {}, {}});
  const std::string said = write_terminal(document);
  EXPECT_THAT(said, HasSubstr("statistically significant"));
  EXPECT_THAT(said, HasSubstr("slower, not significant"));
}

// A change that is not significant has no sources; significant parts are named, others are not.
TEST(SectionDiff, NoiseHasNoSources) {
  DiffReport report = noisy();
  DiffLevel& kernels = report.levels[static_cast<size_t>(DiffLevelKind::kKernel)];
  kernels.kind = DiffLevelKind::kKernel;
  kernels.rows = {row_of("gemm", false, DiffKind::kBoth, 9'000),
                  row_of("relu", false, DiffKind::kBoth, -4'000)};
  kernels.rows[0].noise = DiffNoise::kNoise;
  kernels.rows[1].noise = DiffNoise::kReal;
  std::string said;
  for (const std::string& sentence : diff_words({report, {}, {}})) said += sentence + "\n";
  EXPECT_THAT(said, HasSubstr("Individually significant among the kernels: relu (-4.00 \u00b5s)."));
  EXPECT_THAT(said, Not(HasSubstr("gemm")));
}

DiffReport of_kernels(double often, double longer) {
  DiffReport report = noisy();
  report.time.noise = DiffNoise::kReal;
  DiffLevel& kernels = report.levels[static_cast<size_t>(DiffLevelKind::kKernel)];
  kernels.kind = DiffLevelKind::kKernel;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    DiffRow row = row_of(name, false, DiffKind::kBoth, 0);
    row.a.calls = 3;
    row.b.calls = 3 * often;
    row.a.dur_mean_ns = 1000;
    row.b.dur_mean_ns = 1000 * longer;
    row.a.busy_ns = 3000;
    kernels.rows.push_back(row);
  }
  return report;
}

std::string common_words(const DiffReport& report) {
  for (const std::string& sentence : diff_words({report, {}, {}})) {
    if (sentence.starts_with("Every kernel")) return sentence;
  }
  return "";
}

TEST(SectionDiff, CommonFactorOfAllKernelsIsNotAKernel) {
  EXPECT_EQ(common_words(of_kernels(2, 1)),
            "Every kernel runs 2.00 times as often per iteration: iterations may not be the same "
            "work.");
  EXPECT_EQ(common_words(of_kernels(1, 1.2)),
            "Every kernel takes 1.20 times as long: look at clocks, power, the card or the batch, "
            "not at one kernel.");
  EXPECT_EQ(common_words(of_kernels(1, 1)), "");
  DiffReport noise = of_kernels(1, 1.2);
  noise.time.noise = DiffNoise::kNoise;
  EXPECT_EQ(common_words(noise), "");
}

TEST(SectionDiff, AWholeTraceIsNotAnIteration) {
  DiffReport report = noisy();
  report.whole_traces = true;
  report.a.iterations = report.b.iterations = 1;
  report.time.noise = DiffNoise::kUnknown;
  report.time.interval = {};
  const std::string words = diff_words({report, {}, {}}).front();
  EXPECT_THAT(words, HasSubstr("152 \u00b5s against 150 \u00b5s"));
  EXPECT_THAT(words, HasSubstr("1 whole trace a side). One trace on a side"));
  EXPECT_THAT(words, Not(HasSubstr("iteration")));
}

TEST(SectionDiff, MoreThanTwiceAsLongIsNotAPercentage) {
  DiffReport report = noisy();
  report.time.noise = DiffNoise::kReal;
  report.time.b = 1'200'000;
  report.time.change_share = 7;
  EXPECT_THAT(diff_words({report, {}, {}}).front(), HasSubstr("B takes 8.00 times as long: "));
}

// Two parts of -4 and -3 us, and 5 us the other way: they are more than the change.
TEST(SectionDiff, SourcesThatAreMoreThanTheChangeLeaveARest) {
  DiffReport report = noisy();
  report.time.noise = DiffNoise::kReal;
  report.change_ns = -5'000;
  DiffLevel& parts = report.levels[static_cast<size_t>(DiffLevelKind::kPart)];
  parts.kind = DiffLevelKind::kPart;
  parts.rows = {row_of("idle: input", true, DiffKind::kBoth, -4'000),
                row_of("idle: operators", true, DiffKind::kBoth, -3'000),
                row_of("computing", true, DiffKind::kBoth, 2'000)};
  std::string said;
  for (const std::string& sentence : diff_words({report, {}, {}})) said += sentence + "\n";
  EXPECT_THAT(said,
              HasSubstr("-7.00 \u00b5s come from the parts of an iteration idle: input (-4.00 "
                        "\u00b5s), idle: operators (-3.00 \u00b5s), and +2.00 \u00b5s from all "
                        "others."));
}

}  // namespace
}  // namespace assay
