// How often runs of the same program are told to differ, and how often pairs show what runs alone
// do not: the rates of docs/measured/diff.md, by the verdict's own rule.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/random.h"
#include "diff/compare.h"

namespace assay {
namespace {

enum class Noise { kNormal, kNeighbours, kFarOnes };

// Iterations of about 100 ms with a spread of 1 %.
DiffRun run_of(SplitMix64& random, size_t iterations, Noise noise, double middle_ns) {
  DiffRun run;
  run.iterations = true;
  double last = random.normal();
  for (size_t i = 0; i < iterations; ++i) {
    const bool carries = noise == Noise::kNeighbours;
    last = carries ? 0.5 * last + std::sqrt(0.75) * random.normal() : random.normal();
    double ns = middle_ns * (1 + 0.01 * last);
    if (noise == Noise::kFarOnes && random.chance(0.05)) ns *= random.uniform(1.5, 5);
    run.samples.push_back({static_cast<int32_t>(i), 0, std::llround(ns)});
  }
  for (DiffLevelRun& level : run.levels) {
    level.items = {{.name = "kernel", .shown = "kernel"}};
    for (const DiffSample& sample : run.samples)
      level.samples.push_back({{0, {1, sample.time_ns, 0, sample.time_ns}}});
  }
  return run;
}

// As the verdict says it (report/diff/words.cc).
bool told(const DiffReport& report) {
  return report.time.noise == DiffNoise::kReal || report.hidden_by_few;
}

// ASSAY_NOISE_SEEDS=1000 makes the tables of docs/measured/diff.md.
int seeds() {
  const char* asked = std::getenv("ASSAY_NOISE_SEEDS");
  return asked == nullptr ? 250 : std::max(1, std::atoi(asked));
}
constexpr double kMiddleNs = 1e8;

double rate_of_iterations(size_t iterations, Noise noise, double factor) {
  int count = 0;
  for (int seed = 1; seed <= seeds(); ++seed) {
    SplitMix64 random(mix_seeds(static_cast<uint64_t>(seed), iterations));
    const DiffSide a = make_side({run_of(random, iterations, noise, kMiddleNs)});
    const DiffSide b = make_side({run_of(random, iterations, noise, kMiddleNs * factor)});
    count += told(compare_sides(a, b, {.resamples = 400}));
  }
  return static_cast<double>(count) / seeds();
}

// Pairs whose machine differs by 3 % from pair to pair, runs by 0.3 % within.
double rate_of_runs(size_t pairs, bool paired, double factor) {
  int count = 0;
  for (int seed = 1; seed <= seeds(); ++seed) {
    SplitMix64 random(mix_seeds(static_cast<uint64_t>(seed), pairs));
    std::vector<DiffRun> a;
    std::vector<DiffRun> b;
    for (size_t i = 0; i < pairs; ++i) {
      const double machine = kMiddleNs * (1 + 0.03 * random.normal());
      const double own_a = 1 + 0.003 * random.normal();
      const double own_b = 1 + 0.003 * random.normal();
      a.push_back(run_of(random, 4, Noise::kNormal, machine * own_a));
      b.push_back(run_of(random, 4, Noise::kNormal, machine * own_b * factor));
    }
    count += told(compare_sides(make_side(a), make_side(b), {.resamples = 400, .paired = paired}));
  }
  return static_cast<double>(count) / seeds();
}

TEST(NoiseProperty, TheSameProgramIsRarelyToldToHaveChanged) {
  const std::pair<Noise, double> most[] = {
      {Noise::kNormal, 0.1}, {Noise::kNeighbours, 0.22}, {Noise::kFarOnes, 0.13}};
  for (const size_t iterations : {4, 8, 16, 30, 100}) {
    for (const auto& [noise, rate] : most) {
      const double told = rate_of_iterations(iterations, noise, 1);
      std::printf("same: %zu/%d %.3f\n", iterations, static_cast<int>(noise), told);
      EXPECT_LE(told, rate) << iterations;
    }
  }
}

TEST(NoiseProperty, PairsTellWhatTheirMachinesHide) {
  for (const size_t pairs : {2, 3, 5, 8, 12}) {
    const double same = rate_of_runs(pairs, true, 1);
    const double paired = rate_of_runs(pairs, true, 0.98);
    const double alone = rate_of_runs(pairs, false, 0.98);
    std::printf("pairs: %zu same %.3f, -2 %%: %.3f paired, %.3f not\n", pairs, same, paired, alone);
    EXPECT_LE(same, 0.12) << pairs;
    EXPECT_GE(paired, pairs < 5 ? 0.2 : 0.93) << pairs;
    EXPECT_LE(alone, 0.27) << pairs;
  }
}

}  // namespace
}  // namespace assay
