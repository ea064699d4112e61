#pragma once

// The whole power procedure over one random simulated device, held against what that device knows
// about itself. Used by the test that proves the room and by the program that prints the table.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devices/simulated.h"
#include "power/fit.h"
#include "power/procedure.h"

namespace assay::proof {

struct Strategies {
  bool random_delays = true;  // S1
  bool clock_sync = true;     // S2
  bool golden_runs = true;    // S3
  bool ssp = true;            // S4
  bool paper_counts = false;
};

struct Outcome {
  uint64_t seed = 0;
  std::string kind;
  std::string workload;
  bool answerable = false;  // by the truth: a known sensor, clocks good enough, 25 us and more
  bool failed = false;      // an error, which is none of the verdicts
  std::string message;
  PowerPlan plan;
  KernelProfile profile;
  double w_over_t = 0;
  double ssp_error = NAN;      // (estimate - truth) / truth
  double component_error = 0;  // largest of xcd, iod, hbm, relative; 0 where none is given
  double drift_error = NAN;    // ppm
  double curve_rms = NAN;      // of the curve against the truth after the boxcar, over SSP
  bool smooth = false;         // truth is a polynomial
  bool golden_is_common = false;
  bool interval_holds = false;  // SSP interval contains the truth
  uint32_t band_points = 0;     // grid points of a resolved or averaged curve
  uint32_t band_hits = 0;       // of them with the truth inside the band
};

inline const char* workload_of(uint64_t seed) {
  constexpr std::array<const char*, 6> kWorkloads = {"gemm:4096",  "gemm:8192", "gemm:2048",
                                                     "gemv:16384", "gemm:6144", "gemv:8192"};
  return kWorkloads[seed % kWorkloads.size()];
}

inline double truth_at(const KernelTruth& truth, double t) {
  const auto& curve = truth.curve;
  const double place =
      t / static_cast<double>(truth.t_exec_ns) * static_cast<double>(curve.size() - 1);
  const auto i = static_cast<size_t>(std::clamp(place, 0.0, static_cast<double>(curve.size() - 2)));
  const double part = place - static_cast<double>(i);
  return curve[i].second + part * (curve[i + 1].second - curve[i].second);
}

inline bool golden_is_common(const ProcedureResult& result, const SimulatedDevice& device) {
  uint32_t common = 0;
  const auto& executions = result.recording.executions;
  for (size_t i = 0; i < executions.size(); ++i) {
    if (i + 1 < executions.size() && executions[i + 1].run == executions[i].run) continue;
    const int64_t took = executions[i].end_ns - executions[i].start_ns;
    const bool golden =
        took >= result.profile.golden_low_ns && took <= result.profile.golden_high_ns;
    if (golden != device.common_mode(executions[i].run)) return false;
    common += golden ? 1 : 0;
  }
  return common == result.profile.golden;
}

inline void compare_curve(const KernelProfile& profile, const KernelTruth& truth, Outcome& out) {
  double squares = 0;
  for (const ProfilePoint& point : profile.curve) {
    const double u = static_cast<double>(point.toi_ns) / static_cast<double>(profile.t_exec_ns);
    const double want = truth_at(truth, u * static_cast<double>(truth.t_exec_ns));
    squares += std::pow((point.power_w - want) / truth.ssp_w, 2);
    if (!std::isfinite(point.low_w)) continue;
    ++out.band_points;
    if (point.low_w <= want && want <= point.high_w) ++out.band_hits;
  }
  out.curve_rms = std::sqrt(squares / static_cast<double>(profile.curve.size()));
}

inline Outcome prove(uint64_t seed, const Strategies& use = {}, const SimulatedKnobs& knobs = {},
                     const char* workload = nullptr) {
  Outcome out;
  out.seed = seed;
  out.workload = workload != nullptr ? workload : workload_of(seed);
  const auto device = make_simulated_device(seed, knobs);
  ProcedureOptions options;
  options.seed = seed;
  options.random_delays = use.random_delays;
  options.paper_counts = use.paper_counts;
  options.profile.strict = !use.paper_counts && use.ssp;
  options.profile.use_clock_sync = use.clock_sync;
  options.profile.use_golden_runs = use.golden_runs;
  options.profile.use_ssp = use.ssp;
  options.profile.check_sensor = false;  // its own test holds it against other sensors
  const auto result = run_procedure(*device, *parse_workload_list(out.workload), options, {});
  const PowerTruth truth = *device->truth();
  const KernelTruth& kernel = truth.kernels.front();
  out.kind = truth.kind;
  out.smooth = kernel.smooth;
  out.w_over_t =
      static_cast<double>(truth.sensor.window_ns) / static_cast<double>(kernel.t_exec_ns);
  out.answerable =
      truth.kind != "unknown" && truth.kind != "bad_clock" && kernel.t_exec_ns >= 25'000;
  if (!result) {
    out.failed = true;
    out.message = result.error().message;
    return out;
  }
  out.plan = result->plan;
  out.profile = result->profile;
  if (out.profile.verdict == PowerVerdict::kRefused) return out;
  out.ssp_error = out.profile.ssp_w / kernel.ssp_w - 1;
  out.drift_error = out.profile.clock.drift_ppm - truth.drift_ppm;
  for (size_t i = 0; i < 3; ++i) {
    const double error = std::fabs(out.profile.components[i].ssp_w / kernel.component_w[i] - 1);
    if (std::isfinite(error)) out.component_error = std::max(out.component_error, error);
  }
  out.golden_is_common = golden_is_common(*result, *device);
  out.interval_holds =
      out.profile.ssp_low_w <= kernel.ssp_w && kernel.ssp_w <= out.profile.ssp_high_w;
  if (!out.profile.curve.empty()) compare_curve(out.profile, kernel, out);
  return out;
}

}  // namespace assay::proof
