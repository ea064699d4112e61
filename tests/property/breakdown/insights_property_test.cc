// How often an Insight is said that is not true, of iterations that resemble those before them; the
// tables of docs/measured/insights.md are made with the same scenes (assay_insight_table).

#include <gtest/gtest.h>

#include <cstddef>

#include "support/insight_scenes.h"

namespace assay::insight_scenes {
namespace {

constexpr int kSeeds = 150;
// At 5 % more than this are chance once in 2,000 tests of 150 seeds.
constexpr double kByChance = 0.1134;

TEST(InsightsProperty, FalseStatementsAreRare) {
  for (const Scene scene : {Scene::kIndependent, Scene::kLike03, Scene::kLike06, Scene::kLike09,
                            Scene::kDrift, Scene::kSettling, Scene::kUneasy, Scene::kSwinging}) {
    for (const size_t iterations : {4, 8, 16, 40}) {
      const auto said = rates(kSeeds, iterations, scene, {});
      for (size_t i = 0; i < kNumbers.size(); ++i) {
        EXPECT_LE(said[i], kByChance) << "Insight " << kNumbers[i] << ", " << iterations
                                      << " of scene " << static_cast<int>(scene);
      }
    }
  }
}

TEST(InsightsProperty, TrueStatementsAreMade) {
  for (const size_t iterations : {16, 40, 100}) {
    const auto said = rates(kSeeds, iterations, Scene::kIndependent, kTrue);
    for (size_t i = 0; i < kNumbers.size(); ++i)
      EXPECT_GE(said[i], 0.6) << "Insight " << kNumbers[i] << ", " << iterations;
  }
}

}  // namespace
}  // namespace assay::insight_scenes
