#pragma once

// Power recordings by hand, for tests: a device whose true power is known at every moment, a boxcar
// sensor, two clocks. Everything is drawn from a seed; powers are exact integrals.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "records/power_recording.h"

namespace assay::testing {

inline double unit_draw(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}
inline double normal_draw(std::mt19937_64& random) {
  const double u = 1 - unit_draw(random);
  const double v = unit_draw(random);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
}

struct PowerMaker {
  int64_t t_ns = 100'000;                                          // an execution
  std::vector<std::pair<double, double>> phases = {{1.0, 500.0}};  // share of it, watts
  uint32_t runs = 200;
  uint32_t executions = 11;
  double idle_w = 100;
  int64_t window_ns = 1'000'000;
  int64_t period_ns = 1'000'000;
  double lag_ns = 0;  // of a first-order sensor instead of a boxcar: it follows the mean of phases
  double noise_w = 0;
  double drift_ppm = 0;
  int64_t cpu_origin_ns = 1'700'000'000'000'000'000;
  int64_t gpu_origin_ns = 5'000'000'000'000;
  double tick_hz = 1e9;
  double outlier_share = 0;  // of the runs: 30 % slower throughout
  double jitter = 0;         // of every run's execution time, relative, either way
  uint64_t seed = 1;

  // Mean power over [from, to] when executions of `t` start back to back at `begin`, `n` of them.
  double mean_power(double from, double to, double begin, double t, uint32_t n) const {
    double joules = idle_w * (to - from);
    const double end = begin + t * n;
    const auto first = static_cast<int64_t>(std::max(0.0, std::floor((from - begin) / t)));
    for (int64_t k = first; k < n && begin + t * static_cast<double>(k) < to; ++k) {
      double at = begin + t * static_cast<double>(k);
      for (const auto& [share, watts] : phases) {
        const double next = at + share * t;
        const double covered = std::min({next, to, end}) - std::max(at, from);
        if (covered > 0) joules += (watts - idle_w) * covered;
        at = next;
      }
    }
    return joules / (to - from);
  }

  // What a sensor of first order shows of executions from `begin` to `end`.
  double followed_power(double at, double begin, double end) const {
    double watts = 0;
    for (const auto& [share, power] : phases) watts += share * (power - idle_w);
    const auto risen = [&](double since) { return since > 0 ? 1 - std::exp(-since / lag_ns) : 0; };
    return idle_w + watts * (risen(at - begin) - risen(at - end));
  }

  // `sampled_at`: exact times after each run's first start instead of the logger's period.
  PowerRecording make(const std::vector<double>& sampled_at = {}) const {
    std::mt19937_64 random(seed);
    PowerRecording recording;
    recording.device = "test device";
    recording.tick_hz = tick_hz;
    recording.sensor = {SensorMode::kBoxcar, window_ns, period_ns, 0, "test"};
    recording.kernels = {"gemm"};
    recording.kernel_flop = {std::nan("")};
    recording.kernel_bytes = {std::nan("")};
    recording.seed = seed;
    double now = 1e6;
    for (uint32_t run = 0; run < runs; ++run) {
      double t = static_cast<double>(t_ns);
      if (unit_draw(random) < outlier_share) t *= 1.3;
      t = std::round(t * (1 + jitter * (2 * unit_draw(random) - 1)));
      add_probes(recording, random, now);
      const double lead = static_cast<double>(window_ns) + 50'000;
      const double phase = unit_draw(random) * static_cast<double>(period_ns);
      const double begin = std::round(now + lead + phase);
      const double end = begin + t * executions;
      for (uint32_t i = 0; i < executions; ++i) {
        recording.executions.push_back({run, i, cpu(begin + t * i), cpu(begin + t * (i + 1)), 0});
      }
      std::vector<double> times;
      for (const double at : sampled_at) times.push_back(begin + at);
      if (sampled_at.empty()) {
        for (double at = now + 200'000; at < end + 100'000; at += static_cast<double>(period_ns)) {
          times.push_back(at);
        }
      }
      for (const double at : times) {
        const double watts = lag_ns > 0      ? followed_power(at, begin, end)
                             : window_ns > 0 ? mean_power(at - static_cast<double>(window_ns), at,
                                                          begin, t, executions)
                                             : mean_power(at - 1, at, begin, t, executions);
        PowerSample sample;
        sample.t_ns = gpu(at);
        sample.power_w = std::max(0.0, watts + noise_w * normal_draw(random));
        recording.samples.push_back(sample);
      }
      now = std::max(end, times.empty() ? end : times.back()) + 2'000'000;
    }
    std::mt19937_64 last(seed + 1);
    add_probes(recording, last, now);
    return recording;
  }

  int64_t cpu(double at) const { return cpu_origin_ns + std::llround(at); }
  int64_t gpu(double at) const {
    return gpu_origin_ns + std::llround(at) + std::llround(at * drift_ppm * 1e-6);
  }

 private:
  // Three reads, 3 us there and 3 us back, up to 200 ns more on the way there.
  void add_probes(PowerRecording& recording, std::mt19937_64& random, double now) const {
    for (int i = 0; i < 3; ++i) {
      const double c0 = now + i * 10'000;
      const double forward = 3000 + std::floor(unit_draw(random) * 200);
      const auto ticks = static_cast<int64_t>(
          std::floor(static_cast<double>(gpu(c0 + forward) - gpu_origin_ns) * tick_hz / 1e9));
      const auto origin = static_cast<int64_t>(static_cast<double>(gpu_origin_ns) * tick_hz / 1e9);
      recording.probes.push_back({cpu(c0), origin + ticks, cpu(c0 + forward + 3000)});
    }
  }
};

}  // namespace assay::testing
