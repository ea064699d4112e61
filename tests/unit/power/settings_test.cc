#include "power/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

using ::testing::HasSubstr;

SettingRun setting_run(const std::string& name, std::vector<double> seconds,
                       std::vector<double> joules, double error = 0.01) {
  SettingRun one;
  one.name = name;
  one.gpu = "A100";
  one.iteration_s = std::move(seconds);
  one.iteration_j = std::move(joules);
  one.power_w = 300;
  one.power_low_w = 300 * (1 - error);
  one.power_high_w = 300 * (1 + error);
  one.launches = {{"gemm", 10}, {"norm", 40}};
  return one;
}

std::string refusal(const std::vector<SettingRun>& runs) {
  const auto report = compare_settings(runs);
  return report ? "accepted" : report.error().describe();
}

TEST(Settings, SharesAndTheirIntervalsByHand) {
  // Means 2 s and 1 s; 600 J and 200 J; no scatter: the sensor's 1 % of each, in quadrature.
  const auto report = compare_settings({setting_run("all", {2, 2, 2}, {600, 600, 600}),
                                        setting_run("cap", {1, 1, 1, 1}, {200, 200, 200, 200})});
  ASSERT_TRUE(report) << report.error().describe();
  const SettingResult& cap = report->settings[1];
  EXPECT_EQ(cap.iterations, 4u);
  EXPECT_DOUBLE_EQ(cap.time_change.share.value, -0.5);
  EXPECT_DOUBLE_EQ(cap.time_change.share.low, -0.5);
  EXPECT_NEAR(cap.energy_change.share.value, -2.0 / 3, 1e-12);
  // 1/3 of exp(-+ sqrt(2) 0.01), less 1.
  EXPECT_NEAR(cap.energy_change.share.low, -0.6713472, 1e-6);
  EXPECT_NEAR(cap.energy_change.share.high, -0.6619190, 1e-6);
  EXPECT_NEAR(cap.edp_change.share.value, -5.0 / 6, 1e-12);
  EXPECT_TRUE(cap.energy_change.told && cap.time_change.told && cap.edp_change.told);
  EXPECT_EQ(report->least_energy, 1u);
  EXPECT_EQ(report->least_edp, 1u);
}

TEST(Settings, ScatterOfIterationsIsInTheInterval) {
  // 9, 10, 11 s: s = 1, t = 4.302653 of 2 degrees: 10 +- 2.484 s.
  const auto report = compare_settings({setting_run("all", {9, 10, 11}, {600, 600, 600}),
                                        setting_run("cap", {9, 10, 11}, {600, 600, 600})});
  ASSERT_TRUE(report);
  EXPECT_NEAR(report->settings[0].time_s.high, 12.484138, 1e-5);
  EXPECT_FALSE(report->settings[1].time_change.told);
  EXPECT_LT(report->settings[1].time_change.share.low, 0);
  EXPECT_GT(report->settings[1].time_change.share.high, 0);
}

// 1 % less with 1 % of error on each side: no one can tell.
TEST(Settings, OverlappingIntervalsAreNotADifference) {
  const auto report = compare_settings({setting_run("all", {1, 1, 1}, {600, 600, 600}),
                                        setting_run("cap", {1, 1, 1}, {594, 594, 594})});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->settings[1].energy_change.told);
  EXPECT_EQ(report->least_energy, SIZE_MAX);
}

// More than the first is never the least.
TEST(Settings, TheFirstMayBeTheBest) {
  const auto report = compare_settings({setting_run("all", {1, 1, 1}, {600, 600, 600}),
                                        setting_run("cap", {2, 2, 2}, {900, 900, 900})});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->settings[1].energy_change.told);
  EXPECT_EQ(report->least_energy, SIZE_MAX);
  EXPECT_EQ(report->least_edp, SIZE_MAX);
}

TEST(Settings, OtherWorkIsRefusedWithWhatDiffers) {
  const SettingRun first = setting_run("all", {1, 1, 1}, {600, 600, 600});
  SettingRun other = setting_run("cap", {1, 1, 1}, {600, 600, 600});
  other.launches["norm"] = 40.5;  // half of 50 launches: 1 %
  EXPECT_EQ(refusal({first, other}), "accepted");
  other.launches["norm"] = 48;
  EXPECT_THAT(refusal({first, other}), HasSubstr("not the same work: 13.8 % of the launches"));
  EXPECT_THAT(refusal({first, other}), HasSubstr("most in norm (40 against 48 per iteration)"));
  other = setting_run("cap", {1, 1, 1}, {600, 600, 600});
  other.launches["extra"] = 10;
  EXPECT_THAT(refusal({first, other}), HasSubstr("extra (0 against 10"));
}

TEST(Settings, TooLittleIsRefused) {
  const SettingRun first = setting_run("all", {1, 1, 1}, {600, 600, 600});
  EXPECT_THAT(refusal({first}), HasSubstr("two settings"));
  EXPECT_THAT(refusal({first, setting_run("all", {1, 1, 1}, {600, 600, 600})}),
              HasSubstr("given twice"));
  EXPECT_THAT(refusal({first, setting_run("cap", {1, 1}, {600, 600})}), HasSubstr("at least 3"));
  SettingRun other = setting_run("cap", {1, 1, 1}, {600, 600, 600});
  other.gpu = "H100";
  EXPECT_THAT(refusal({first, other}), HasSubstr("ran on A100, cap on H100"));
}

}  // namespace
}  // namespace assay
