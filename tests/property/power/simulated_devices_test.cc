// The proof of the power room: the whole procedure over random simulated devices, each held against
// its own truth (docs/measured/simulated_devices.md prints the same, device by device).

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/power_proof.h"

namespace assay {
namespace {

using proof::Outcome;

#ifdef NDEBUG
constexpr uint64_t kDevices = 300;
#else
constexpr uint64_t kDevices = 12;
#endif

const std::vector<Outcome>& outcomes() {
  static const std::vector<Outcome> all = [] {
    std::vector<Outcome> list;
    for (uint64_t seed = 1; seed <= kDevices; ++seed) list.push_back(proof::prove(seed));
    return list;
  }();
  return all;
}

std::string about(const Outcome& out) {
  return "seed " + std::to_string(out.seed) + ", " + out.kind + ", " + out.workload + ", " +
         std::string(power_verdict_name(out.profile.verdict)) +
         (out.profile.reasons.empty() ? "" : ": " + out.profile.reasons.front());
}

bool answered(const Outcome& out) {
  return !out.failed && out.profile.verdict != PowerVerdict::kRefused;
}

TEST(SimulatedDevices, OnlyResolvablePointsAreAnswered) {
  for (const Outcome& out : outcomes()) {
    EXPECT_FALSE(out.failed) << about(out) << out.message;
    EXPECT_EQ(answered(out), out.answerable) << about(out);
  }
}

TEST(SimulatedDevices, TheSspMeanIsWithinOnePercent) {
  for (const Outcome& out : outcomes()) {
    if (answered(out)) {
      EXPECT_LT(std::fabs(out.ssp_error), 0.01) << about(out);
    }
  }
}

TEST(SimulatedDevices, TheComponentsAreThoseOfTheTruth) {
  for (const Outcome& out : outcomes()) {
    // A slow sensor's few samples inside one execution are no basis for its components.
    if (answered(out) && out.profile.verdict != PowerVerdict::kMeanOnly) {
      EXPECT_LT(out.component_error, 0.015) << about(out);
    }
  }
}

TEST(SimulatedDevices, TheDriftIsWithinOnePpm) {
  for (const Outcome& out : outcomes()) {
    if (answered(out)) {
      EXPECT_LT(std::fabs(out.drift_error), 1) << about(out);
    }
  }
}

TEST(SimulatedDevices, TheGoldenRunsAreTheTrueCommonMode) {
  for (const Outcome& out : outcomes()) {
    if (answered(out)) {
      EXPECT_TRUE(out.golden_is_common) << about(out);
    }
  }
}

TEST(SimulatedDevices, NoCurveIsCalledResolvedThatTheBoxcarHasAveraged) {
  for (const Outcome& out : outcomes()) {
    if (!answered(out)) continue;
    if (out.profile.verdict == PowerVerdict::kResolved) {
      EXPECT_LE(out.w_over_t, 0.51) << about(out);
    }
    if (out.profile.verdict == PowerVerdict::kMeanOnly) {
      EXPECT_TRUE(out.profile.curve.empty()) << about(out);
    }
  }
}

TEST(SimulatedDevices, TheCurveIsTheTruthAfterTheBoxcar) {
  double worst = 0;
  double sum = 0;
  size_t curves = 0;
  for (const Outcome& out : outcomes()) {
    if (!answered(out) || out.profile.curve.empty()) continue;
    worst = std::max(worst, out.curve_rms);
    sum += out.curve_rms;
    ++curves;
    EXPECT_LT(out.curve_rms, 0.03) << about(out);
  }
  EXPECT_LT(sum / static_cast<double>(curves), 0.005);
}

TEST(SimulatedDevices, NinetyFivePercentIntervalsHoldTheTruthNinetyFiveTimesInAHundred) {
  if (kDevices < 100) GTEST_SKIP() << "too few devices in a Debug build to tell";
  double points = 0;
  double hits = 0;
  double devices = 0;
  double held = 0;
  for (const Outcome& out : outcomes()) {
    if (!answered(out)) continue;
    points += out.band_points;
    hits += out.band_hits;
    ++devices;
    held += out.interval_holds ? 1 : 0;
  }
  EXPECT_NEAR(hits / points, 0.95, 0.02);
  EXPECT_NEAR(held / devices, 0.95, 0.02);
}

}  // namespace
}  // namespace assay
