// Costs worked out by hand.

#include "flow/run_cost.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

RunOnGpu gpu_of(const char* name, const char* card, Ends90 run_ns, Ends90 gain) {
  RunOnGpu gpu;
  gpu.gpu.name = name;
  gpu.roof.card = card;
  gpu.change = GpuChange::kGeneration;
  gpu.run_ns = run_ns;
  gpu.gain = gain;
  return gpu;
}

// 36 s on two A100, and on H100 twice as fast, 1.6 to 2.4 times.
OtherGpus two_gpus() {
  OtherGpus found;
  found.recorded.card = "A100";
  found.gpu_count = 2;
  found.now_ns = {30e9, 36e9, 40e9};
  found.gpus = {gpu_of("h100", "H100", {14e9, 18e9, 25e9}, {1.6, 2, 2.4})};
  return found;
}

// A hundredth of an hour on two GPUs at $1.50 is 3 cents; half of it at $4 is 4 cents. What an A100
// does in an hour takes an H100 half an hour: $2.00. 25 s of two boards of 700 W are 35 kJ.
TEST(RunCost, IsTimeTimesGpusTimesPrice) {
  const auto costs = run_costs(two_gpus(), {{"H100", 4, 700}, {"A100", 1.5, 400}});
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_TRUE(costs[0].recorded);
  EXPECT_EQ(costs[0].gpu, "A100");
  EXPECT_DOUBLE_EQ(costs[0].usd.low, 0.025);
  EXPECT_DOUBLE_EQ(costs[0].usd.middle, 0.03);
  EXPECT_DOUBLE_EQ(costs[0].usd_for_hour.low, 1.5);
  EXPECT_DOUBLE_EQ(costs[0].usd_for_hour.high, 1.5);
  EXPECT_DOUBLE_EQ(costs[0].joule_at_most, 32'000);
  EXPECT_FALSE(costs[1].recorded);
  EXPECT_EQ(costs[1].gpu, "h100");
  EXPECT_DOUBLE_EQ(costs[1].usd.middle, 0.04);
  EXPECT_DOUBLE_EQ(costs[1].usd_for_hour.low, 4 / 2.4);
  EXPECT_DOUBLE_EQ(costs[1].usd_for_hour.middle, 2);
  EXPECT_DOUBLE_EQ(costs[1].usd_for_hour.high, 2.5);
  EXPECT_DOUBLE_EQ(costs[1].joule_at_most, 35'000);
}

TEST(RunCost, NoneWithoutAPriceOrATime) {
  OtherGpus found = two_gpus();
  EXPECT_TRUE(run_costs(found, {}).empty());
  EXPECT_EQ(run_costs(found, {{"H100", 4, 700}}).size(), 1U);
  found.gpus[0].gain = {};
  EXPECT_TRUE(run_costs(found, {{"H100", 4, 700}}).empty());
  found.refusal = EditRefusal::kModelError;
  EXPECT_TRUE(run_costs(found, {{"A100", 1.5, 400}}).empty());
}

// 3 cents for 20 to 30 thousand tokens: $1.20 a million at 25 thousand. From 2.5 cents for 30
// thousand to 3.33 cents for 20 thousand.
TEST(RunCost, IsDividedByTheTokens) {
  const std::vector<GpuPrice> prices = {{"A100", 1.5, 400}};
  const auto costs = run_costs(two_gpus(), prices, OutputTokens{20'000, 30'000});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_DOUBLE_EQ(costs[0].usd_per_mtok.middle, 1.2);
  EXPECT_DOUBLE_EQ(costs[0].usd_per_mtok.low, 0.025 / 0.03);
  EXPECT_NEAR(costs[0].usd_per_mtok.high, 5.0 / 3, 1e-12);
  EXPECT_EQ(run_costs(two_gpus(), prices)[0].usd_per_mtok.high, 0);
}

// A price is of the whole card.
TEST(RunCost, APartOfACardHasNoPrice) {
  OtherGpus found = two_gpus();
  found.recorded.part = "1g.10gb";
  EXPECT_EQ(run_costs(found, {{"A100", 1.5, 400}, {"H100", 4, 700}}).size(), 1U);
}

// The recorded card as one of --on is the recorded run.
TEST(RunCost, TheRecordedGpuHasOneRow) {
  OtherGpus found = two_gpus();
  found.gpus.push_back(gpu_of("a100", "A100", {30e9, 36e9, 40e9}, {1, 1, 1}));
  found.gpus.back().change = GpuChange::kNone;
  EXPECT_EQ(run_costs(found, {{"A100", 1.5, 400}}).size(), 1U);
}

}  // namespace
}  // namespace assay
