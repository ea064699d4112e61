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
  EXPECT_EQ(diff_percent_text(-0.0000341), ">-0.1 %");
}

TEST(SectionDiff, AGateTellsItsIntervalInTheUnitOfItsLimit) {
  EXPECT_EQ(gate_words(gate_of("queue_share>+0.01", DiffUnit::kShare, 0.3, 0.35, 0.05,
                               GateOutcome::kCrossed, {true, 0.02, 0.08})),
            "Crossed: queue_share went from 30.0 % to 35.0 % (+5.00 pp, 95 % interval +2.00 to "
            "+8.00 pp), above the limit of 'queue_share>+0.01'.");
  EXPECT_EQ(gate_words(gate_of("tklqt>+10%", DiffUnit::kNanoseconds, 1e5, 1.2e5, 0.2,
                               GateOutcome::kWithinNoise, {true, 0.05, 0.36})),
            "Passed inside the noise: tklqt went from 100 µs to 120 µs (+20.0 %, 95 % interval "
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
TEST(SectionDiff, NoiseSaysWhatWouldHaveBeenTold) {
  const std::vector<std::string> words = diff_words({noisy(), {}, {}});
  EXPECT_THAT(words[0], HasSubstr("No change beyond noise: B is 1.3 % slower"));
  EXPECT_EQ(words[1],
            "With these iterations a change of the mean under about 7.50 \u00b5s (5.0 %) cannot be "
            "told from noise.");
}

TEST(SectionDiff, AFewFarIterationsDoNotHideTheUsualOne) {
  DiffReport report = noisy();
  report.typical = {
      .known = true, .change = -28'000, .low = -29'000, .high = -27'000, .a = 140'000};
  EXPECT_THAT(diff_words({report, {}, {}}).at(0), HasSubstr("No change"));  // not sure enough
  report.hidden_by_few = true;
  const std::vector<std::string> words = diff_words({report, {}, {}});
  EXPECT_THAT(words[0],
              HasSubstr("The usual iteration is 20.0 % faster, beyond noise (-28.0 \u00b5s"));
  EXPECT_THAT(words[0], ::testing::Not(HasSubstr("No change")));
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

}  // namespace
}  // namespace assay
