#include "power/mixed.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace assay {
namespace {

constexpr double kMostHalf = 0.1;      // maximum half-width, relative to the power
constexpr double kNegligible = 0.005;  // of a window
constexpr double kIdleKnownTo = 0.02;  // relative error of idle power, a median over a run

std::string text_of(const char* form, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), form, value);
  return text;
}

// Relative error for windows that tile an execution: a curve is less accurate at its ends, which no
// band shows. Found on simulated devices (seeds 700 to 779), checked on others.
constexpr double kEndsKnownTo = 0.003;

// A mixture and its other components, as shares of the same time.
struct Mixture {
  double watts = 0;
  double half_w = 0;
  double own_share = 1;
  std::span<const MixedWith> others;
  double others_share = 0;  // with idle
};

Mixture mixture_of(const KernelProfile& profile) {
  const Tiling& tiling = profile.tiling;
  if (std::isfinite(tiling.watts)) {
    return {tiling.watts, std::hypot(tiling.half_w, kEndsKnownTo * tiling.watts), 1, tiling.before,
            tiling.before_share};
  }
  return {profile.ssp_w, (profile.ssp_high_w - profile.ssp_low_w) / 2, profile.window_share,
          profile.mixed_with, 1 - profile.window_share};
}

// Power of the other components of the mixture; nullopt with the unknown one in `missing`.
std::optional<KnownPower> others_of(const Mixture& mixture, double idle_w,
                                    const std::map<std::string, KnownPower>& known,
                                    std::string& missing) {
  KnownPower sum;
  double idle_share = mixture.others_share;
  for (const MixedWith& other : mixture.others) {
    idle_share -= other.share;
    if (other.share < kNegligible) continue;
    const auto found = known.find(other.name);
    if (found == known.end()) {
      missing = other.name + " alone: give a recording of it together with this one";
      return std::nullopt;
    }
    sum.watts += other.share * found->second.watts;
    sum.half_w = std::hypot(sum.half_w, other.share * found->second.half_w);
  }
  if (idle_share < kNegligible) return sum;
  if (!std::isfinite(idle_w)) {
    missing = "the device at idle";
    return std::nullopt;
  }
  sum.watts += idle_share * idle_w;
  sum.half_w = std::hypot(sum.half_w, idle_share * kIdleKnownTo * idle_w);
  return sum;
}

}  // namespace

std::map<std::string, KnownPower> known_powers(std::span<const KernelProfile> profiles) {
  constexpr double kAlone = 0.98;
  std::map<std::string, KnownPower> known;
  for (const KernelProfile& one : profiles) {
    const bool sound = one.verdict == PowerVerdict::kResolved ||
                       one.verdict == PowerVerdict::kAveraged ||
                       one.verdict == PowerVerdict::kMeanOnly;
    const double half = (one.ssp_high_w - one.ssp_low_w) / 2;
    if (!sound || !(one.window_share >= kAlone) || !std::isfinite(half)) continue;
    known.insert({one.name, {one.ssp_w, half}});
  }
  return known;
}

void unmix(KernelProfile& profile, const std::map<std::string, KnownPower>& known) {
  if (profile.verdict != PowerVerdict::kMixed) return;
  std::string missing;
  const Mixture mixture = mixture_of(profile);
  const std::optional<KnownPower> others = others_of(mixture, profile.idle_w, known, missing);
  if (!others || !std::isfinite(mixture.half_w) || !(mixture.own_share > 0)) {
    profile.reasons.push_back(
        "its own power is unknown: no estimate of the power of " +
        (others ? std::string("the mixture with any accuracy") : std::move(missing)));
    return;
  }
  const double own = (mixture.watts - others->watts) / mixture.own_share;
  const double own_half = std::hypot(mixture.half_w, others->half_w) / mixture.own_share;
  if (!(own > 0) || own_half > kMostHalf * own) {
    profile.reasons.push_back("its own power would be " + text_of("%.0f", own) +
                              " W, give or take " + text_of("%.0f", own_half) +
                              " W: it ran in too little of the windows");
    return;
  }
  profile.unmixed_w = own;
  profile.unmixed_low_w = own - own_half;
  profile.unmixed_high_w = own + own_half;
  profile.energy_j = own * static_cast<double>(profile.t_exec_ns) * 1e-9;
}

}  // namespace assay
