// Kernels that run once between many of another, on devices that know what each draws: the mixture
// is never said to be the kernel's, and what is taken out of it is.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "power/mixed.h"
#include "support/power_proof.h"

namespace assay {
namespace {

#ifdef NDEBUG
constexpr uint64_t kMixedDevices = 80;
#else
constexpr uint64_t kMixedDevices = 4;
#endif

std::optional<KernelProfile> profile_of(uint64_t seed, const SimulatedKnobs& knobs,
                                        const std::string& workload, double* truth_w = nullptr) {
  const auto device = make_simulated_device(seed, knobs);
  ProcedureOptions options;
  options.seed = seed;
  auto result = run_procedure(*device, *parse_workload_list(workload), options, {});
  if (!result) return std::nullopt;
  if (truth_w != nullptr) {
    const std::optional<PowerTruth> truth = device->truth();
    for (const KernelTruth& kernel : truth->kernels) {
      if (kernel.name == result->profile.name) *truth_w = kernel.ssp_w;
    }
  }
  return result->profile;
}

TEST(MixedWindows, AKernelBetweenOthersGetsItsOwnPowerOrNone) {
  uint64_t mixed = 0;
  uint64_t told = 0;
  uint64_t held = 0;
  double worst = 0;
  for (uint64_t seed = 900; seed < 900 + kMixedDevices; ++seed) {
    SimulatedKnobs knobs;
    knobs.kind = seed % 2 == 0 ? "logger" : "fine";
    knobs.boost = 0;
    const std::string kernel = seed % 3 == 0 ? "gemm:6144" : "gemm:8192";
    double truth_w = 0;
    auto between = profile_of(seed, knobs, "20*gemv:8192,1*" + kernel, &truth_w);
    const auto alone = profile_of(seed, knobs, "gemv:8192");
    if (!between || !alone || between->verdict != PowerVerdict::kMixed) continue;
    ++mixed;
    EXPECT_TRUE(std::isnan(between->own_w())) << "a mixture is not the kernel's, seed " << seed;
    EXPECT_TRUE(std::isnan(between->energy_j));
    unmix(*between, known_powers({&*alone, 1}));
    if (!std::isfinite(between->unmixed_w)) {
      EXPECT_FALSE(between->reasons.empty());
      continue;
    }
    ++told;
    held += between->unmixed_low_w <= truth_w && truth_w <= between->unmixed_high_w ? 1 : 0;
    worst = std::max(worst, std::fabs(between->unmixed_w / truth_w - 1));
    EXPECT_LT(std::fabs(between->unmixed_w / truth_w - 1), 0.1) << "seed " << seed;
  }
  EXPECT_GT(mixed, kMixedDevices / 4);
  EXPECT_GT(told, mixed / 2);
  if (kMixedDevices >= 50) {
    EXPECT_GE(static_cast<double>(held), 0.88 * static_cast<double>(told))
        << held << " of " << told << " intervals, " << mixed << " mixed, worst " << worst;
  }
  RecordProperty("told", std::to_string(held) + " of " + std::to_string(told) + ", mixed " +
                             std::to_string(mixed) + ", worst " + std::to_string(worst));
}

// x 330 W, a quarter of the window the kernel's, three quarters one of 260 W.
TEST(MixedWindows, WorkedExample) {
  KernelProfile profile;
  profile.name = "k";
  profile.verdict = PowerVerdict::kMixed;
  profile.t_exec_ns = 1'000'000;
  profile.ssp_w = 330;
  profile.ssp_low_w = 329;
  profile.ssp_high_w = 331;
  profile.window_share = 0.25;
  profile.mixed_with = {{"j", 0.75}};
  unmix(profile, {{"j", {260, 2}}});
  EXPECT_NEAR(profile.unmixed_w, 540, 1e-9);
  EXPECT_NEAR(profile.unmixed_high_w - profile.unmixed_w, std::hypot(1, 0.75 * 2) / 0.25, 1e-9);
  EXPECT_NEAR(profile.energy_j, 0.54, 1e-9);

  KernelProfile little = profile;
  little.unmixed_w = NAN;
  little.window_share = 0.02;
  little.mixed_with = {{"j", 0.98}};
  unmix(little, {{"j", {260, 9}}});
  EXPECT_TRUE(std::isnan(little.unmixed_w));
  EXPECT_NE(little.reasons.back().find("too little"), std::string::npos);

  KernelProfile unknown = profile;
  unknown.unmixed_w = NAN;
  unmix(unknown, {});
  EXPECT_TRUE(std::isnan(unknown.unmixed_w));
  EXPECT_NE(unknown.reasons.back().find("j alone"), std::string::npos);
}

}  // namespace
}  // namespace assay
