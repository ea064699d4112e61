#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/power/device.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string joined_words(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& one : words) all += one + " ";
  return all;
}

SensorCalibration calibration_of(ResponseKind kind, ResponseTime window, ResponseTime ramp) {
  SensorCalibration calibration;
  calibration.sensor.period_ns = 100'000'000;
  calibration.sensor.window_ns = 25'000'000;
  calibration.share_sampled = 0.25;
  calibration.response = {
      .kind = kind, .window = window, .ramp = ramp, .delay = {5'000'000, 4'000'000, 6'000'000}};
  if (!calibration.response.is_boxcar_alone()) {
    calibration.sensor.ramp_ns = calibration.response.lag_ns();
  }
  return calibration;
}

TEST(CalibrationWords, KnownValuesHaveIntervals) {
  const std::string words = joined_words(calibration_verdict_words(calibration_of(
      ResponseKind::kBoxcar, {25'000'000, 24'000'000, 26'000'000}, {1'000'000, 0, 2'000'000})));
  EXPECT_THAT(words, HasSubstr("window 25 ms (24 to 26), ramp 1 ms (0 to 2), delay 5 ms (4 to 6)"));
  EXPECT_THAT(words, Not(HasSubstr("Not distinguishable")));
  EXPECT_THAT(words, HasSubstr("can be resolved from 50 ms"));
}

TEST(CalibrationWords, NamesIndistinguishableValues) {
  const std::string both = joined_words(calibration_verdict_words(calibration_of(
      ResponseKind::kBoxcar, {18'000'000, 2'000'000, 24'000'000}, {6'000'000, 0, 12'000'000})));
  EXPECT_THAT(both, HasSubstr("Not distinguishable: window and ramp"));
  EXPECT_THAT(both, HasSubstr("means and no curve"));
  const std::string kinds = joined_words(calibration_verdict_words(calibration_of(
      ResponseKind::kNotTold, {18'000'000, 17'000'000, 19'000'000}, {1'000'000, 0, 2'000'000})));
  EXPECT_THAT(kinds, HasSubstr("Not distinguishable: boxcar and exponential mean"));
  EXPECT_THAT(kinds, HasSubstr("means and no curve"));
  const std::string whose = joined_words(calibration_verdict_words(calibration_of(
      ResponseKind::kExponential, {12'400'000, 10'600'000, 13'900'000}, {800'000, 0, 4'200'000})));
  EXPECT_THAT(whose, HasSubstr("time constant of 12.4 ms (10.6 to 13.9)"));
  EXPECT_THAT(whose, HasSubstr("Sensor and GPU cannot be separated in these"));
  EXPECT_THAT(whose, HasSubstr("what is about the mean over 25 ms"));
  EXPECT_THAT(whose, HasSubstr("Nearer to it than any window"));
  EXPECT_THAT(whose, HasSubstr("a curve needs a window without a ramp"));
}

TEST(CalibrationWords, TimesBelowWhatMattersHaveNoExponents) {
  const std::string words = joined_words(calibration_verdict_words(
      calibration_of(ResponseKind::kBoxcar, {25'000'000, 24'000'000, 26'000'000}, {15, 0, 9'999})));
  EXPECT_THAT(words, HasSubstr("ramp below 0.01 ms (0 to below 0.01)"));
}

// Of a load that is no step the window without a ramp is kept: the sentences name two windows.
TEST(CalibrationWords, TwoWindowsAreSaidToBeTwoFits) {
  SensorCalibration calibration = calibration_of(
      ResponseKind::kBoxcar, {28'000'000, 27'000'000, 29'000'000}, {1'000'000, 0, 2'000'000});
  calibration.response.misfit = true;
  const std::string words = joined_words(calibration_verdict_words(calibration));
  EXPECT_THAT(words, HasSubstr("what is about the mean over 25 ms"));
  EXPECT_THAT(words, HasSubstr("Fitted with a ramp, by long and short pulses, 95 %: window 28 ms"));
}

TEST(ProcedureWords, ReportsLateSettling) {
  ProcedureResult result;
  result.plan.executions_per_run = 10;
  result.plan.t_exec_ns = 2'000'000;
  EXPECT_TRUE(procedure_words(result).empty());
  result.late = {.watched_ns = 8'000'000'000,
                 .changes = true,
                 .after_ns = 2'100'000'000,
                 .time_change = 0.08,
                 .power_change = -0.142};
  EXPECT_EQ(joined_words(procedure_words(result)),
            "It settles late: after 2.1 s without a gap an execution draws 14.2 % less power and "
            "takes 8.0 % longer. The results are for runs of 0.02 s. ");
  result.late.goes_on = true;
  EXPECT_THAT(joined_words(procedure_words(result)),
              HasSubstr("It is still changing: after 8 s without a gap"));
}

TEST(ProcedureWords, ADeviceThatFailsWhileWatchedIsNamed) {
  ProcedureResult result;
  result.late_failed = "the GPU fell off the bus";
  EXPECT_THAT(joined_words(procedure_words(result)),
              HasSubstr("was not watched, because the device failed: the GPU fell off the bus"));
}

}  // namespace
}  // namespace assay
