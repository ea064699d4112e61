#include "throughput/left_out_gpus.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay {
namespace {

// One block of as many equal misses.
void add(std::vector<GpuMiss>& misses, const std::string& engine, const std::string& gpu,
         size_t rows, double process, double by_sheet, double by_physics,
         const std::string& vendor = "v") {
  for (size_t i = 0; i < rows; ++i)
    misses.push_back({i, vendor, engine, gpu + "|" + engine, process, by_sheet, by_physics});
}

TEST(SiblingRule, TakesTheProcessWhereThatMissesLeast) {
  std::vector<GpuMiss> misses;
  for (const char* gpu : {"a", "b", "c"}) add(misses, "e", gpu, 10, 0.1, 0.5, 0.6);
  const SiblingRule rule = sibling_rule(misses, {1, 0});
  EXPECT_EQ(rule.weights("v", "e").sum(), 0);
  EXPECT_EQ(rule.weights("v", "another").sum(), 0);
}

// The process is 0.6 too low where the sibling is 0.2 too high: a quarter of the process and three
// of the sibling miss nothing.
TEST(SiblingRule, TakesTheMixtureThatMissesNothing) {
  std::vector<GpuMiss> misses;
  for (const char* gpu : {"a", "b"}) add(misses, "e", gpu, 10, 0.6, -0.2, 2);
  const SiblingRule rule = sibling_rule(misses, {});
  EXPECT_EQ(rule.weights("v", "e").by_sheet, 0.75);
  EXPECT_EQ(rule.weights("v", "e").by_physics, 0);
  EXPECT_NEAR(rule.missed(misses.front()), 0, 1e-12);
}

// Each engine by its own GPUs, and one that has none by those of all.
TEST(SiblingRule, GoesByTheEngineFirst) {
  std::vector<GpuMiss> misses;
  for (const char* gpu : {"a", "b", "c", "d"}) add(misses, "good", gpu, 10, 0, 1, 1);
  for (const char* gpu : {"a", "b", "c", "d", "f"}) add(misses, "bad", gpu, 10, 1, 0, 1);
  const SiblingRule rule = sibling_rule(misses, {});
  EXPECT_EQ(rule.weights("v", "good").by_sheet, 0);
  EXPECT_EQ(rule.weights("v", "bad").by_sheet, 1);
  EXPECT_EQ(rule.weights("v", "third").by_sheet, 1);
}

// Another vendor's GPUs say nothing, not even where they are many.
TEST(SiblingRule, GoesByTheVendorAlone) {
  std::vector<GpuMiss> misses;
  for (const char* gpu : {"a", "b", "c", "d"}) add(misses, "e", gpu, 10, 0, 1, 1);
  for (const char* gpu : {"f", "g"}) add(misses, "e", gpu, 10, 1, 1, 0, "w");
  add(misses, "e", "h", 10, 0, 1, 1, "x");
  const SiblingRule rule = sibling_rule(misses, {1, 0});
  EXPECT_EQ(rule.weights("v", "e").sum(), 0);
  EXPECT_EQ(rule.weights("w", "e").by_physics, 1);
  EXPECT_EQ(rule.weights("w", "another").by_physics, 1);
  EXPECT_EQ(rule.weights("x", "e").by_sheet, 1);
  EXPECT_EQ(rule.weights("y", "e").by_sheet, 1);
}

// A block of a thousand rows weighs no more than one of ten.
TEST(SiblingRule, EveryBlockCountsTheSame) {
  std::vector<GpuMiss> misses;
  add(misses, "e", "a", 1000, 1, 0, 1);
  add(misses, "e", "b", 10, 0, 1, 1);
  add(misses, "e", "c", 10, 0, 1, 1);
  EXPECT_EQ(sibling_rule(misses, {}).weights("v", "e").by_sheet, 0);
}

TEST(SiblingRule, SingleBlockGivesTheDefault) {
  std::vector<GpuMiss> misses;
  add(misses, "e", "a", 10, 1, 0, 1);
  const SiblingRule rule = sibling_rule(misses, {0.25, 0.5});
  EXPECT_EQ(rule.weights("v", "e").by_sheet, 0.25);
  // Off by all of the miss times the weight of it: a quarter of the process and a half of physics.
  EXPECT_NEAR(rule.interval.half_width, 1.25 * 0.75, 1e-12);
  EXPECT_FALSE(rule.interval.measured);
  EXPECT_EQ(sibling_rule({}, {}).interval.half_width, 0);
}

// Nine of nineteen blocks and one to come, 0.9 * 20 = 18: the eighteenth. One of five rows is half
// a block.
TEST(GpuInterval, HoldsNineOfTenBlocksWithOneToCome) {
  std::vector<GpuMiss> whose;
  std::vector<double> missed;
  for (int block = 1; block <= 19; ++block) {
    add(whose, "e", std::to_string(block), 10, 0, 0, 0);
    for (int i = 0; i < 10; ++i) missed.push_back(0.01 * block);
  }
  GpuInterval told = gpu_interval(missed, whose);
  EXPECT_EQ(told.blocks, 19);
  EXPECT_TRUE(told.measured);
  EXPECT_NEAR(told.half_width, 0.18, 1e-12);
  add(whose, "e", "few", 5, 0, 0, 0);
  for (int i = 0; i < 5; ++i) missed.push_back(7);
  told = gpu_interval(missed, whose);
  EXPECT_EQ(told.blocks, 19.5);
  EXPECT_NEAR(told.half_width, 0.19, 1e-12);
}

// With three no share of nine tenths is known: a quarter more than the largest, and not measured.
TEST(GpuInterval, OfFewBlocksIsBeyondTheLargestMiss) {
  std::vector<GpuMiss> whose;
  std::vector<double> missed;
  for (const double miss : {0.1, -0.4, 0.2}) {
    add(whose, "e", std::to_string(miss), 10, 0, 0, 0);
    missed.insert(missed.end(), 10, miss);
  }
  const GpuInterval told = gpu_interval(missed, whose);
  EXPECT_NEAR(told.half_width, 0.5, 1e-12);
  EXPECT_FALSE(told.measured);
}

}  // namespace
}  // namespace assay
