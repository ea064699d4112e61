#pragma once

// A GPU whose clock falls while it runs, seconds after it began: at once, in steps, along a line or
// an exponential, with kernels that slow down by it or hardly do. Knows nothing of what looks for
// it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/random.h"
#include "devices/device.h"

namespace assay::testing {

struct Throttling {
  enum class Shape : uint8_t { kStep, kSteps, kLine, kExponential };
  Shape shape = Shape::kStep;
  double drop = 0;       // of the clock, in the end; 0: steady
  double settled_s = 1;  // after so long nothing changes
  double bound = 1;      // of the time of an execution, the part that goes with the clock
  double t_exec_s = 1e-3;
  double window_s = 1e-3;
  double period_s = 1e-3;
  double noise = 0.003;
  double jitter = 0.003;  // of executions
  double wander = 0;      // slow, of time and power, either way
  double leakage = 0;     // what a hot device draws more after seconds
  double idle_w = 100;
  double load_w = 600;
  std::array<double, 4> steps = {0.2, 0.5, 0.7, 1};  // of settled_s

  // The clock, as a share of that at the beginning.
  double clock_at(double since_s) const {
    const double part = since_s / settled_s;
    double fallen = part >= 1 ? 1 : 0;
    if (shape == Shape::kLine) fallen = std::min(part, 1.0);
    if (shape == Shape::kExponential) fallen = 1 - std::exp(-4.6 * part);
    if (shape == Shape::kSteps) {
      fallen = 0;
      for (const double step : steps) fallen += part >= step ? 0.25 : 0;
    }
    return 1 - drop * fallen;
  }
  double watts_at(double since_s) const {
    return (load_w - idle_w) * std::pow(clock_at(since_s), 2.5);
  }
};

inline Throttling drawn_throttling(uint64_t seed, bool late) {
  SplitMix64 random(seed);
  Throttling device;
  device.shape = static_cast<Throttling::Shape>(random.below(4));
  device.drop = late ? random.uniform(0.03, 0.25) : 0;
  device.settled_s = random.uniform(0.3, 5);
  device.bound = random.chance(0.3) ? 0.05 : random.uniform(0.5, 1);
  device.t_exec_s = random.uniform(2e-4, 4e-3);
  device.period_s = std::array{1e-3, 0.01, 0.1}[static_cast<size_t>(random.below(3))];
  device.window_s = device.period_s * random.uniform(0.25, 1);
  device.noise = random.uniform(0.001, 0.01);
  device.jitter = random.uniform(0.001, 0.007);
  device.wander = random.uniform(0, 0.003);
  device.leakage = random.uniform(0, 0.005);
  device.idle_w = random.uniform(60, 140);
  device.load_w = device.idle_w + random.uniform(150, 500);
  double at = 0;
  for (double& step : device.steps) at = step = at + random.uniform(0.05, 1);
  for (double& step : device.steps) step /= at;
  return device;
}

class ThrottlingDevice final : public PowerDevice {
 public:
  ThrottlingDevice(const Throttling& made, uint64_t seed) : made_(made), random_(seed) {
    facts_.name = "Throttling";
    facts_.virtual_time = true;
    facts_.samples_on_cpu_clock = true;
    facts_.documented.mode = SensorMode::kBoxcar;
    facts_.documented.window_ns = std::llround(made.window_s * 1e9);
    facts_.documented.period_ns = std::llround(made.period_s * 1e9);
    facts_.documented.source = "documented";
    phase_ = random_.uniform(0, 1);
  }
  // Runs of more than so many executions fail.
  void fail_beyond(size_t executions) { most_ = executions; }
  const DeviceFacts& facts() const override { return facts_; }
  Result<PreparedKernel> prepare(const std::string& workload) override {
    return PreparedKernel{0, workload, 0, 0};
  }
  int64_t now_ns() override { return now_; }
  Status wait_ns(int64_t ns) override {
    now_ += std::max<int64_t>(0, ns);
    return Ok{};
  }
  Result<ClockProbe> probe() override { return ClockProbe{now_, now_, now_}; }
  Result<std::optional<double>> energy_j() override { return std::optional<double>(); }
  Status start_logging(const LogRequest&) override {
    log_from_ = now_;
    drawn_.clear();
    return Ok{};
  }
  Result<std::vector<PowerExecution>> execute(uint32_t run,
                                              const std::vector<uint32_t>& kernels) override {
    if (kernels.size() > most_) {
      return Error{ErrorCode::kUnsupported, "the device fell off the bus", "", -1};
    }
    now_ += 8'000;
    if (now_ - busy_until_ > 20 * kMillisecondNs) busy_since_ = now_;
    const double whole_run = 1 + made_.jitter * random_.uniform(-1, 1);
    std::vector<PowerExecution> done;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const double since_s = static_cast<double>(now_ - busy_since_) * 1e-9;
      const double clock = made_.clock_at(since_s);
      const double slow = made_.wander * std::sin(since_s * 1.7 + phase_);
      const double time = made_.t_exec_s * whole_run * (1 + slow) *
                          (1 - made_.bound + made_.bound / clock) *
                          (1 + 0.001 * random_.uniform(-1, 1));
      const double watts =
          made_.watts_at(since_s) * (1 - slow) * (1 + made_.leakage * (1 - std::exp(-since_s / 2)));
      const int64_t end = now_ + std::llround(time * 1e9);
      drawn_.push_back({now_, end, watts});
      done.push_back({run, static_cast<uint32_t>(i), now_, end, 0});
      now_ = end;
    }
    busy_until_ = now_;
    return done;
  }
  Result<std::vector<PowerSample>> stop_logging() override {
    const int64_t period = facts_.documented.period_ns;
    const int64_t window = facts_.documented.window_ns;
    std::vector<PowerSample> samples;
    size_t first = 0;
    for (int64_t t = (log_from_ / period + 1) * period; t <= now_; t += period) {
      while (first < drawn_.size() && drawn_[first].end <= t - window) ++first;
      double joules = 0;
      for (size_t i = first; i < drawn_.size() && drawn_[i].start < t; ++i) {
        const int64_t inside = std::min(drawn_[i].end, t) - std::max(drawn_[i].start, t - window);
        joules += drawn_[i].watts * static_cast<double>(std::max<int64_t>(0, inside));
      }
      const double watts = made_.idle_w + joules / static_cast<double>(window);
      samples.push_back({.t_ns = t, .power_w = watts * (1 + made_.noise * random_.normal())});
    }
    return samples;
  }

 private:
  struct Drawn {
    int64_t start = 0;
    int64_t end = 0;
    double watts = 0;  // above idle
  };

  Throttling made_;
  SplitMix64 random_;
  DeviceFacts facts_;
  std::vector<Drawn> drawn_;
  double phase_ = 0;
  int64_t now_ = 1'000 * kMillisecondNs;
  int64_t busy_since_ = 0;
  int64_t busy_until_ = 0;
  int64_t log_from_ = 0;
  size_t most_ = std::numeric_limits<size_t>::max();
};

}  // namespace assay::testing
