#pragma once

// Runs of a program that does not change, whose iterations take about 100 ms, in the ways in which
// real ones are uneven: nothing in them depends on what is made of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace assay::noise_scenes {

enum class Scene {
  kIndependent,
  kLike03,  // each like the one before, by a correlation of 0.3
  kLike06,
  kLike09,
  kLate,         // the end of one is the begin of the next, and ends are late by chance
  kWarming,      // every run begins slower and settles, in the same way
  kDrift,        // every run becomes slower or faster by as much as it likes
  kWave,         // a wave of 40 iterations (heat and its fan)
  kCheckpoint,   // every tenth takes half as long again
  kStep,         // slower or faster from some iteration on
  kTwoClocks,    // either of two clocks, changing every 20 iterations
  kFar,          // 5 % take 1.5 to 5 times as long
  kHeavy,        // Student's t of two degrees of freedom
  kSkewed,       // log-normal
  kTwoMemories,  // a short memory and a long one
  // Made when the rule stood (base/memory.h).
  kSawtooth,     // grows by 3 % over 25 iterations and falls back
  kSettling,     // every run begins off by as much as it likes and settles
  kAlternating,  // every other takes 3 % longer
  kUneasy,       // the spread itself has a memory
  kSwinging      // second order: 1.2 of the one before, less 0.4 of the one before that
};
struct SceneName {
  Scene scene;
  std::string_view words;
};
inline constexpr SceneName kScenes[] = {
    {Scene::kIndependent, "each by itself"},
    {Scene::kLike03, "like the one before, 0.3"},
    {Scene::kLike06, "like the one before, 0.6"},
    {Scene::kLike09, "like the one before, 0.9"},
    {Scene::kLate, "late ends"},
    {Scene::kWarming, "warming up, alike"},
    {Scene::kDrift, "a drift of its own"},
    {Scene::kWave, "a wave of 40"},
    {Scene::kCheckpoint, "every tenth slower"},
    {Scene::kStep, "a step of its own"},
    {Scene::kTwoClocks, "two clocks"},
    {Scene::kFar, "some far from the rest"},
    {Scene::kHeavy, "heavy tails"},
    {Scene::kSkewed, "skewed"},
    {Scene::kTwoMemories, "a short and a long memory"},
    {Scene::kSawtooth, "a sawtooth of 25 (held out)"},
    {Scene::kSettling, "settling, each its own way (held out)"},
    {Scene::kAlternating, "every other slower (held out)"},
    {Scene::kUneasy, "a spread with a memory (held out)"},
    {Scene::kSwinging, "second order, 1.2 and -0.4 (held out)"}};

// What an iteration is off, in hundredths of its usual time.
inline std::vector<double> offsets(SplitMix64& random, size_t n, Scene scene) {
  std::vector<double> values(n);
  const auto remembered = [&](double correlation, double weight) {
    double last = random.normal();
    for (double& value : values) {
      value += weight * last;
      last = correlation * last + std::sqrt(1 - correlation * correlation) * random.normal();
    }
  };
  if (scene == Scene::kSwinging) {
    double last = 0;
    double before = 0;
    for (size_t i = 0; i < n + 100; ++i) {
      const double now = 1.2 * last - 0.4 * before + 0.5 * random.normal();
      before = last;
      last = now;
      if (i >= 100) values[i - 100] = now;
    }
    return values;
  }
  const double whole = static_cast<double>(n);
  const double chance = random.uniform();
  const double size = 3 * random.normal();
  bool slow = random.chance(0.5);
  double late = random.normal();
  double unease = random.normal();
  switch (scene) {
    case Scene::kLike03:
      remembered(0.3, 1);
      return values;
    case Scene::kLike06:
      remembered(0.6, 1);
      return values;
    case Scene::kLike09:
      remembered(0.9, 1);
      return values;
    case Scene::kTwoMemories:
      remembered(0.5, 1);
      remembered(0.95, 1);
      return values;
    default:
      break;
  }
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<double>(i);
    double& value = values[i];
    value = random.normal();
    if (scene == Scene::kLate) {
      const double now = value;
      value = now - 0.6 * late;
      late = now;
    }
    if (scene == Scene::kWarming) value += 4 * std::exp(-at / 5);
    if (scene == Scene::kDrift) value += size * at / whole;
    if (scene == Scene::kWave) value += 2 * std::sin(2 * std::numbers::pi * (chance + at / 40));
    if (scene == Scene::kCheckpoint && (i + static_cast<size_t>(chance * 10)) % 10 == 0)
      value += 50;
    if (scene == Scene::kStep && at >= chance * whole) value += size;
    if (scene == Scene::kTwoClocks) {
      if (random.chance(0.05)) slow = !slow;
      if (slow) value += 3;
    }
    if (scene == Scene::kFar && random.chance(0.05)) value = 100 * random.uniform(0.5, 4);
    if (scene == Scene::kHeavy) value /= std::sqrt(-std::log(1 - random.uniform()));
    if (scene == Scene::kSkewed) value = std::exp(value);
    if (scene == Scene::kSawtooth) {
      value += 3 * std::fmod(at / 25 + chance, 1.0);
    }
    if (scene == Scene::kSettling) value += size * std::exp(-at / 5);
    if (scene == Scene::kAlternating && i % 2 == 1) value += 3;
    if (scene == Scene::kUneasy) {
      unease = 0.9 * unease + std::sqrt(0.19) * random.normal();
      value *= std::exp(unease);
    }
  }
  return values;
}

}  // namespace assay::noise_scenes
