#pragma once

// Configurations of known truth for the Insights of `breakdown --config`: B has twice A's tokens
// and matrix products of twice the length, and whatever else an Insight looks at is the same in
// both, or exactly where its rule begins; iterations are uneven as noise_offsets.h says, each
// quantity in its own way.

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "breakdown/insights.h"
#include "support/noise_offsets.h"

namespace assay::insight_scenes {

using noise_scenes::Scene;

// By how much the truth of B differs from A's; 1 and 0: not at all.
struct Truth {
  double attention = 1;   // of one attention's duration, in both configurations eight of them
  double collective = 1;  // of one kind's middle, of three kinds
  double overlap = 0;     // of the share beside collectives
  double launch = 0;      // of launch overhead over kernel time
  double edges = 0;       // of the share at the ends of an iteration; told from a half on
  double cores = 0;       // of active cores over needed ones; told from two on
};
constexpr Truth kTrue{.attention = 0.8,
                      .collective = 3,
                      .overlap = -0.3,
                      .launch = -0.1,
                      .edges = 0.25,
                      .cores = 1};  // each Insight holds

// What the offsets of a scene are in the long run: an Insight about one configuration is true or
// not by that.
inline double usual_offset(Scene scene) {
  const bool to_one_side = scene == Scene::kTwoClocks || scene == Scene::kSawtooth ||
                           scene == Scene::kAlternating;  // by 3, half of the time
  return to_one_side ? 1.5 : 0;
}

class Maker {
 public:
  Maker(uint64_t seed, size_t iterations, Scene scene)
      : random_(seed), iterations_(iterations), scene_(scene) {}

  ConfigFigures make(const std::string& name, double work, const Truth& truth) {
    ConfigFigures config;
    config.name = name;
    config.gpus = 4;
    for (size_t i = 0; i < iterations_; ++i) config.iterations.push_back(static_cast<int32_t>(i));
    config.tokens = 4096 * work;
    config.span_each = about(1400 * work, 0.02);
    config.overlap_each = around(0.5 + truth.overlap, 0.15);
    add_parts(config, work, truth);
    for (int i = 0; i < 8; ++i)
      add_attention(config, "attention_" + std::to_string(i), i == 0 ? truth.attention : 1);
    for (int i = 0; i < 3; ++i)
      add_comm(config, "kind_" + std::to_string(i), i == 0 ? truth.collective : 1);
    const FigureSeries edges = around(0.5 + truth.edges, 0.1);
    for (const double share : edges) config.gaps.push_back({100, 100 * share, 90 * share});
    const FigureSeries active = around(20 + 10 * truth.cores, 4);
    for (const double now : active)
      config.cores.push_back({0, static_cast<int>(std::lround(now)), 10});
    config.cores_used_share = 0.3;
    return config;
  }

 private:
  FigureSeries around(double middle, double spread) {
    FigureSeries series = noise_scenes::offsets(random_, iterations_, scene_);
    for (double& value : series) value = middle + spread * (value - usual_offset(scene_));
    return series;
  }

  FigureSeries about(double middle, double spread) {
    FigureSeries series = noise_scenes::offsets(random_, iterations_, scene_);
    for (double& value : series) value = middle * std::exp(spread * value);
    return series;
  }

  void add_parts(ConfigFigures& config, double work, const Truth& truth) {
    FigurePart whole{LevelPhase::kForward, std::nullopt};
    whole.dur_each = FigureSeries(iterations_, 1000 * work);
    whole.launch_each = around((0.2 + truth.launch) * 1000 * work, 40 * work);
    FigurePart products{LevelPhase::kForward, OpType::kGemm};
    products.dur_each = about(600 * work, 0.02);
    config.parts = {whole, products};
  }

  void add_attention(ConfigFigures& config, const std::string& name, double factor) {
    FigureOp op;
    op.name = {LevelPhase::kForward, OpType::kAttention, name};
    op.dur_each = about(100 * factor, 0.05);
    op.dur_ns = figure_box(op.dur_each);
    op.executions = config.gpus * iterations_;
    config.ops.push_back(op);
  }

  void add_comm(ConfigFigures& config, const std::string& kind, double factor) {
    FigureComm comm{kind, config.gpus * iterations_, {}, about(200 * factor, 0.4)};
    comm.dur_ns = figure_box(comm.dur_each);
    comm.dur_ns.min = 50;
    config.comms.push_back(comm);
  }

  SplitMix64 random_;
  size_t iterations_;
  Scene scene_;
};

inline constexpr std::array<int, 6> kNumbers = {1, 2, 4, 5, 6, 7};

// Of so many pairs of configurations, the share in which each Insight of kNumbers is said of the
// pair, or of B alone.
inline std::array<double, kNumbers.size()> rates(int seeds, size_t iterations, Scene scene,
                                                 const Truth& truth) {
  std::array<double, kNumbers.size()> said{};
  for (int seed = 1; seed <= seeds; ++seed) {
    Maker maker(mix_seeds(static_cast<uint64_t>(seed), iterations), iterations, scene);
    const std::vector<ConfigFigures> both = {maker.make("A", 1, {}), maker.make("B", 2, truth)};
    for (const Insight& one : find_insights(both)) {
      if (one.state != InsightState::kHolds || one.config + one.other == "A") continue;
      for (size_t i = 0; i < kNumbers.size(); ++i) said[i] += one.number == kNumbers[i];
    }
  }
  for (double& share : said) share /= seeds;
  return said;
}

}  // namespace assay::insight_scenes
