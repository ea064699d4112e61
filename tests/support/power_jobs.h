#pragma once

// Made-up jobs with known energies, and what logs of them look like, for tests of energy
// attribution: calls whose power varies, a device that ramps, sensors of several kinds. Knows
// nothing of the model that is tested.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "power/joint/update_grid.h"

namespace assay::testing {

struct PowerJob {
  struct Call {
    size_t kind = 0;
    double start_s = 0;
    double end_s = 0;
    double watts = 0;
  };
  static constexpr size_t kKinds = 4;  // norm, gemm, attention, copy
  std::vector<Call> calls;
  double idle_w = 0;
  double device_ramp_s = 0;

  double end_s() const { return calls.back().end_s + 1; }
  double energy_j(size_t kind) const {
    double joules = 0;
    for (const Call& c : calls) joules += c.kind == kind ? c.watts * (c.end_s - c.start_s) : 0;
    return joules;
  }
  double busy_s(size_t kind) const {
    double sum = 0;
    for (const Call& c : calls) sum += c.kind == kind ? c.end_s - c.start_s : 0;
    return sum;
  }
};

// Bursts of four to ten layers with pauses; the power of each call varies by 3 %. slower: how many
// times longer all of it takes, as work of long kernels does.
inline PowerJob make_power_job(uint64_t seed, double seconds = 40, double slower = 1) {
  SplitMix64 random(seed);
  PowerJob job;
  const std::array<double, PowerJob::kKinds> watts = {
      random.uniform(40, 120), random.uniform(250, 450), random.uniform(120, 250),
      random.uniform(20, 80)};
  job.idle_w = random.uniform(60, 120);
  job.device_ramp_s = std::array{0.0, 0.003, 0.01}[static_cast<size_t>(random.below(3))];
  const double shortest = random.uniform(2, 20);
  const double longest = shortest + random.uniform(0, 20);
  double now = 1;
  const auto call = [&](size_t kind, double ms) {
    job.calls.push_back({kind, now, now + ms * 1e-3, watts[kind] * (1 + 0.03 * random.normal())});
    now += ms * 1e-3 + random.uniform(0, 5e-4);
  };
  while (now < seconds / slower) {
    const int64_t layers = 4 + random.below(7);
    for (int64_t i = 0; i < layers; ++i) {
      call(0, random.uniform(0.5, 3));
      call(1, random.uniform(shortest, longest));
      call(2, random.uniform(2, 20));
      call(3, random.uniform(0.2, 3));
    }
    now += std::array{0.02, 0.1, 0.3}[static_cast<size_t>(random.below(3))];
  }
  for (PowerJob::Call& c : job.calls) {
    c.start_s *= slower;
    c.end_s *= slower;
  }
  return job;
}

struct MadeSensor {
  double window_s = 0.1;
  double filter_s = 0;  // first-order, of the sensor itself
  double period_s = 0.1;
  double poll_s = 0;  // 0: every update is logged once, when it is made
  double late_s = 0;  // stamps are late by up to that
  double clock_s = 0;
  double drift = 0;
  double noise = 0.005;
  double kept = 0;  // of the reading before, in each one: what firmware smooths
};

// Energy drawn up to every quarter of a millisecond.
inline std::vector<double> energy_over_time(const PowerJob& job, double step_s,
                                            double sensor_filter_s) {
  const auto steps = static_cast<size_t>(job.end_s() / step_s);
  std::vector<double> power(steps, 0);
  for (const PowerJob::Call& c : job.calls) {
    for (auto i = static_cast<size_t>(c.start_s / step_s); i < steps; ++i) {
      const double begin = static_cast<double>(i) * step_s;
      if (begin >= c.end_s) break;
      const double inside = std::min(c.end_s, begin + step_s) - std::max(c.start_s, begin);
      power[i] += c.watts * std::max(0.0, inside) / step_s;
    }
  }
  for (const double ramp : {job.device_ramp_s, sensor_filter_s}) {
    if (ramp <= 0) continue;
    const double keep = std::exp(-step_s / ramp);
    double y = 0;
    for (double& x : power) {
      const double mean = x + (y - x) * ramp / step_s * (1 - keep);
      y = x + (y - x) * keep;
      x = mean;
    }
  }
  std::vector<double> energy{0};
  for (const double p : power) energy.push_back(energy.back() + (p + job.idle_w) * step_s);
  return energy;
}

inline std::vector<TimedPower> log_of(const PowerJob& job, const MadeSensor& sensor,
                                      uint64_t seed) {
  constexpr double kStepS = 2.5e-4;
  SplitMix64 random(seed);
  const std::vector<double> energy = energy_over_time(job, kStepS, sensor.filter_s);
  const auto until = [&](double t) {
    const double place = std::clamp(t / kStepS, 0.0, static_cast<double>(energy.size()) - 1.001);
    const auto at = static_cast<size_t>(place);
    return energy[at] + (place - static_cast<double>(at)) * (energy[at + 1] - energy[at]);
  };
  std::vector<TimedPower> updates;
  const double phase = random.uniform(0, sensor.period_s);
  double smooth = 0;
  for (double t = std::max(0.2, sensor.window_s) + phase; t < job.end_s(); t += sensor.period_s) {
    const double mean = (until(t) - until(t - sensor.window_s)) / sensor.window_s;
    const double noisy = mean * (1 + sensor.noise * random.normal());
    smooth = updates.empty() ? noisy : sensor.kept * smooth + (1 - sensor.kept) * noisy;
    updates.push_back({t, std::round(smooth * 100) / 100});
  }
  std::vector<TimedPower> log;
  if (sensor.poll_s <= 0) log = updates;
  double t = updates.front().t_s;
  for (size_t at = 0; sensor.poll_s > 0 && t < job.end_s();
       t += sensor.poll_s * random.uniform(0.7, 1.3)) {
    while (at + 1 < updates.size() && updates[at + 1].t_s <= t) ++at;
    log.push_back({t, updates[at].power_w});
  }
  for (TimedPower& reading : log) {
    reading.t_s += sensor.late_s * random.uniform();
    reading.t_s = reading.t_s * (1 + sensor.drift) + sensor.clock_s;
  }
  return log;
}

}  // namespace assay::testing
