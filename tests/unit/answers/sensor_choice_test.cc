#include "answers/files/sensor_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

TEST(UsualSensor, KeyDependsOnTheKindOfSample) {
  const auto instant = usual_sensor("NVIDIA GeForce RTX 3090", "instant");
  ASSERT_TRUE(instant);
  EXPECT_EQ(instant->window_ns, 99'600'000);
  EXPECT_EQ(instant->period_ns, 100 * kMs);
  EXPECT_FALSE(instant->calibrated);
  EXPECT_THAT(instant->source, HasSubstr("GPU_Power_Benchmark"));
  EXPECT_EQ(usual_sensor("NVIDIA GeForce RTX 3090", "average")->window_ns, 1000 * kMs);
  EXPECT_FALSE(usual_sensor("NVIDIA GeForce RTX 3090", "")) << "which of the two is not told";
  const auto a100 = usual_sensor("NVIDIA A100-PCIE-40GB", "");
  ASSERT_TRUE(a100) << "it has one reading";
  EXPECT_EQ(a100->ramp_ns, 12'500'000);
  EXPECT_FALSE(usual_sensor("NVIDIA A100-PCIE-40GB", "average"));
  EXPECT_FALSE(usual_sensor("NVIDIA Nobody", "instant"));
}

// A recording that says nothing of its sensor gets the model's; one that does keeps its own.
TEST(UsualSensor, FillsWhatARecordingDoesNotSay) {
  PowerRecording recording;
  recording.device = "Tesla V100-SXM2-32GB";
  ASSERT_TRUE(use_kept_calibration("", recording));
  EXPECT_EQ(recording.sensor.window_ns, 10'500'000);
  EXPECT_THAT(recording.sensor.source, HasSubstr("of other cards of its model"));
  recording.sensor = {SensorMode::kBoxcar, kMs, kMs, 0, "meta.json"};
  ASSERT_TRUE(use_kept_calibration("", recording));
  EXPECT_EQ(recording.sensor.window_ns, kMs);
}

}  // namespace
}  // namespace assay
