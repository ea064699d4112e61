#pragma once

// Runs of a program that does not change, for `diff`: of iterations of about 100 ms that are uneven
// as noise_offsets.h says.

#include "diff/compare.h"
#include "support/noise_offsets.h"

namespace assay::noise_scenes {

// A run of iterations that take as long as said, all of it in one kernel.
inline DiffRun run_of_times(const std::vector<double>& ns) {
  DiffRun run;
  run.iterations = true;
  for (size_t i = 0; i < ns.size(); ++i) {
    const int64_t time = std::max<int64_t>(1, std::llround(ns[i]));
    run.samples.push_back({static_cast<int32_t>(i), 0, time});
  }
  for (DiffLevelRun& level : run.levels) {
    level.items = {{.name = "kernel", .shown = "kernel"}};
    for (const DiffSample& sample : run.samples)
      level.samples.push_back({{0, {1, sample.time_ns, 0, sample.time_ns}}});
  }
  return run;
}

inline DiffRun run_of_scene(SplitMix64& random, size_t n, Scene scene, double middle_ns) {
  std::vector<double> ns = offsets(random, n, scene);
  for (double& value : ns) value = middle_ns * (1 + 0.01 * value);
  return run_of_times(ns);
}

// As the verdict says it (report/diff/words.cc).
inline bool told(const DiffReport& report) {
  return report.time.noise == DiffNoise::kReal || report.hidden_by_few;
}

inline DiffReport compare_times(const std::vector<double>& a, const std::vector<double>& b) {
  return compare_sides(make_side({run_of_times(a)}), make_side({run_of_times(b)}),
                       {.resamples = 400});
}

inline constexpr double kMiddleNs = 1e8;

// Of so many pairs of runs, B's iterations taking `factor` times as long, the share that is told.
inline double rate_of_iterations(int seeds, size_t n, Scene scene, double factor) {
  int count = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    SplitMix64 random(mix_seeds(static_cast<uint64_t>(seed), n));
    const DiffSide a = make_side({run_of_scene(random, n, scene, kMiddleNs)});
    const DiffSide b = make_side({run_of_scene(random, n, scene, kMiddleNs * factor)});
    count += told(compare_sides(a, b, {.resamples = 400}));
  }
  return static_cast<double>(count) / seeds;
}

// Of so many runs a side. Machines differ by 3 %, and both runs of a pair are of one; runs that are
// no pairs each have their own. Runs of one machine differ by 0.3 %.
inline double rate_of_runs(int seeds, size_t runs, bool paired, double factor) {
  int count = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    SplitMix64 random(mix_seeds(static_cast<uint64_t>(seed), runs));
    std::vector<DiffRun> a;
    std::vector<DiffRun> b;
    for (size_t i = 0; i < runs; ++i) {
      const double machine = kMiddleNs * (1 + 0.03 * random.normal());
      const double other = paired ? machine : kMiddleNs * (1 + 0.03 * random.normal());
      const double own_a = 1 + 0.003 * random.normal();
      const double own_b = 1 + 0.003 * random.normal();
      a.push_back(run_of_scene(random, 4, Scene::kIndependent, machine * own_a));
      b.push_back(run_of_scene(random, 4, Scene::kIndependent, other * own_b * factor));
    }
    count += told(compare_sides(make_side(a), make_side(b), {.resamples = 400, .paired = paired}));
  }
  return static_cast<double>(count) / seeds;
}

}  // namespace assay::noise_scenes
