// How often runs of the same program are told to differ, and how often pairs show what runs alone
// do not; the tables of docs/measured/diff.md are made with the same scenes (assay_noise_table).

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/noise_scenes.h"

namespace assay::noise_scenes {
namespace {

constexpr int kSeeds = 250;
// At 5 % more than this are chance once in 1,000 tests of 250 seeds.
constexpr double kByChance = 0.096;

TEST(NoiseProperty, TheSameProgramRarelyShowsAChange) {
  for (const size_t iterations : {3, 4, 5, 8, 16, 30, 100}) {
    for (const Scene scene : {Scene::kIndependent, Scene::kLike03, Scene::kLike06, Scene::kLike09,
                              Scene::kLate, Scene::kWarming, Scene::kDrift, Scene::kCheckpoint,
                              Scene::kFar, Scene::kHeavy, Scene::kSkewed, Scene::kTwoMemories}) {
      EXPECT_LE(rate_of_iterations(kSeeds, iterations, scene, 1), kByChance)
          << iterations << " of scene " << static_cast<int>(scene);
    }
  }
}

TEST(NoiseProperty, AChangeIsDetected) {
  const std::pair<size_t, double> sizes[] = {{4, 0.5},   {5, 0.2},   {8, 0.1},
                                             {16, 0.05}, {30, 0.03}, {100, 0.01}};
  for (const auto& [iterations, slower] : sizes) {
    EXPECT_GE(rate_of_iterations(kSeeds, iterations, Scene::kIndependent, 1 + slower), 0.9)
        << iterations;
  }
}

// What a step or another clock did to the whole of a run is in no iteration of it.
TEST(NoiseProperty, StepsAreMostlySeen) {
  for (const Scene scene : {Scene::kStep, Scene::kWave, Scene::kTwoClocks}) {
    for (const size_t iterations : {8, 30, 300})
      EXPECT_LE(rate_of_iterations(kSeeds, iterations, scene, 1), 0.22) << iterations;
  }
}

TEST(NoiseProperty, PairsShowChangesThatMachinesHide) {
  for (const size_t pairs : {2, 3, 5, 8, 12}) {
    EXPECT_LE(rate_of_runs(kSeeds, pairs, true, 1), kByChance) << pairs;
    EXPECT_LE(rate_of_runs(kSeeds, pairs, false, 1), kByChance) << pairs;
    EXPECT_GE(rate_of_runs(kSeeds, pairs, true, 0.98), pairs < 3   ? 0.1
                                                       : pairs < 5 ? 0.5
                                                                   : 0.93)
        << pairs;
    EXPECT_LE(rate_of_runs(kSeeds, pairs, false, 0.98), 0.42) << pairs;
  }
}

}  // namespace
}  // namespace assay::noise_scenes
