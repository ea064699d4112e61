// Prints the tables of docs/measured/insights.md: how often an Insight of `breakdown --config` is
// said that is not true, and one that is. Usage: assay_insight_table SEEDS.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/insight_scenes.h"

namespace assay::insight_scenes {
namespace {

constexpr size_t kSizes[] = {4, 8, 16, 30, 100};
// Quantities that are off by tens of their spread are no shares.
constexpr Scene kScenes[] = {Scene::kIndependent, Scene::kLike03,   Scene::kLike06,
                             Scene::kLike09,      Scene::kDrift,    Scene::kStep,
                             Scene::kTwoClocks,   Scene::kSawtooth, Scene::kSettling,
                             Scene::kAlternating, Scene::kUneasy,   Scene::kSwinging};

std::string words_of(Scene scene) {
  for (const auto& [named, words] : noise_scenes::kScenes) {
    if (named == scene) return std::string(words.substr(0, words.find(" (held out)")));
  }
  return "";
}

void print_head() {
  std::printf("| iterations | Insight |");
  for (const size_t size : kSizes) std::printf(" %zu |", size);
  std::printf("\n|---|---|");
  for (size_t i = 0; i < std::size(kSizes); ++i) std::printf("---:|");
  std::printf("\n");
}

void print_rows(int seeds, Scene scene, const Truth& truth) {
  std::array<std::array<double, kNumbers.size()>, std::size(kSizes)> by_size;
  for (size_t s = 0; s < std::size(kSizes); ++s) by_size[s] = rates(seeds, kSizes[s], scene, truth);
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    std::printf("| %s | %d |", i == 0 ? words_of(scene).c_str() : "", kNumbers[i]);
    for (const auto& rates_of : by_size) std::printf(" %.1f |", 100 * rates_of[i]);
    std::printf("\n");
  }
}

}  // namespace
}  // namespace assay::insight_scenes

int main(int argc, char** argv) {
  using namespace assay::insight_scenes;
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 0;
  if (seeds < 1) {
    std::fprintf(stderr, "usage: assay_insight_table SEEDS\n");
    return 2;
  }
  std::printf("## What is not true\n\n");
  print_head();
  for (const Scene scene : kScenes) print_rows(seeds, scene, {});
  std::printf("\n## What is true\n\n");
  print_head();
  for (const Scene scene : {Scene::kIndependent, Scene::kLike06}) print_rows(seeds, scene, kTrue);
  return 0;
}
