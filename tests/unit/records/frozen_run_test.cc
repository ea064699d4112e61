// The file of a predicted run on other GPUs, and its score.

#include "records/frozen_run.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

FrozenRun two_gpus() {
  return {.tool_version = "1.2",
          .trace = "a b.json",
          .as_recorded = true,
          .gpu_count = 2,
          .iterations = 5,
          .gpus = {{.card = "Nvidia H200 GPU", .run_ns = 100, .low_ns = 80, .high_ns = 130},
                   {.card = "AMD MI300X", .part = "an eighth", .low_ns = 50, .high_ns = 200}},
          .operators = {{"aten::add_", 48, 1'200}, {"my op = 3", 1, 0}}};
}

TEST(FrozenRun, ReadsWhatItWrites) {
  const auto read = parse_frozen_run(frozen_run_text(two_gpus()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(frozen_run_text(*read), frozen_run_text(two_gpus()));
  EXPECT_TRUE(read->as_recorded);
  EXPECT_EQ(read->gpu_count, 2);
  EXPECT_EQ(read->iterations, 5);
  ASSERT_EQ(read->gpus.size(), 2U);
  EXPECT_EQ(read->gpus[0].card, "Nvidia H200 GPU");
  EXPECT_EQ(read->gpus[0].high_ns, 130);
  EXPECT_EQ(read->gpus[1].part, "an eighth");
  EXPECT_EQ(read->gpus[1].run_ns, 0);
  ASSERT_EQ(read->operators.size(), 2U);
  EXPECT_EQ(read->operators[0].calls, 48U);
  EXPECT_EQ(read->operators[0].typical_ns, 1'200);
  EXPECT_EQ(read->operators[1].name, "my op = 3");
}

TEST(FrozenRun, DiffersFromAGain) {
  EXPECT_TRUE(is_frozen_run(frozen_run_text(two_gpus())));
  EXPECT_FALSE(is_frozen_run("[assay prediction]\nbefore_ns = 1\n"));
  EXPECT_FALSE(is_frozen_run(""));
}

std::string error_of(const std::string& lines) {
  const auto read = parse_frozen_run("[assay prediction of a run]\n" + lines);
  return read ? "" : read.error().message;
}

TEST(FrozenRun, RefusesByLine) {
  EXPECT_EQ(error_of(""), "no GPU is predicted: [gpu NAME] is missing");
  EXPECT_EQ(error_of("speed = 3\n"), "line 2: 'speed' is not a line of a prediction");
  EXPECT_EQ(error_of("profiler = some\n"), "line 2: 'profiler' is not a line of a prediction");
  EXPECT_EQ(error_of("[gpu A]\nlow_ns = -3\n"),
            "line 3: low_ns must be a whole number, at least 0");
  EXPECT_EQ(error_of("[gpu A]\nlow_ns = 9\nhigh_ns = 3\n"),
            "[gpu A]: low_ns, run_ns and high_ns must be above 0 and ascend");
  EXPECT_EQ(error_of("[gpu A]\nlow_ns = 1\nrun_ns = 9\nhigh_ns = 3\n"),
            "[gpu A]: low_ns, run_ns and high_ns must be above 0 and ascend");
  EXPECT_EQ(error_of("[operators]\ncalls = 48 aten::add\n"),
            "line 3: expected a line such as calls = 48 12500 aten::addmm");
  EXPECT_EQ(error_of("[gpus]\n"), "line 2: 'gpus' is not a line of a prediction");
}

// 100, from 80 to 130.
TEST(FrozenRun, IsScored) {
  const FrozenGpu gpu = two_gpus().gpus[0];
  EXPECT_EQ(score_run(gpu, {80, 80, 80}).held, true);
  EXPECT_DOUBLE_EQ(score_run(gpu, {80, 80, 80}).signed_error, 0.25);
  EXPECT_DOUBLE_EQ(score_run(gpu, {125, 125, 125}).signed_error, -0.2);
  EXPECT_EQ(score_run(gpu, {131, 131, 131}).held, false);
  EXPECT_EQ(score_run(gpu, {60, 70, 79}).held, false);
  EXPECT_EQ(score_run(gpu, {70, 90, 100}).held, std::nullopt);
  EXPECT_EQ(score_run(gpu, {70, 100, 140}).held, std::nullopt);
  EXPECT_TRUE(std::isnan(score_run(two_gpus().gpus[1], {60, 60, 60}).signed_error));
}

}  // namespace
}  // namespace assay
