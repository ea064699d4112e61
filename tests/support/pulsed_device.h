#pragma once

// A GPU for calibrations whose power rises with a ramp and whose sensor is a boxcar or an
// exponential mean, integrated step by step: knows nothing of the model that is fitted to it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/random.h"
#include "devices/device.h"

namespace assay::testing {

struct PulsedSensor {
  bool boxcar = true;
  double window_ns = 25e6;  // of an exponential mean: its time constant
  double ramp_ns = 0;       // of the device
  double delay_ns = 0;
  double period_ns = 100e6;
  double noise = 0.004;  // of a reading, share of its watts
  double jitter_ns = 0;  // of an update
  double idle_w = 90;
  double load_w = 550;
  double call_scatter = 0;  // of the power of a call
  double boost = 0;         // at the beginning of a call, gone with boost_ns
  double boost_ns = 0;
};

class PulsedDevice final : public PowerDevice {
 public:
  PulsedDevice(const PulsedSensor& sensor, uint64_t seed) : sensor_(sensor), random_(seed) {
    facts_.name = "Pulsed";
    facts_.virtual_time = true;
    facts_.samples_on_cpu_clock = true;
    phase_ns_ = random_.uniform(0, sensor.period_ns);
  }

  const DeviceFacts& facts() const override { return facts_; }
  Result<PreparedKernel> prepare(const std::string& workload) override {
    return PreparedKernel{kernels_++, workload, 0, 0};
  }
  int64_t now_ns() override { return now_; }
  Status wait_ns(int64_t ns) override {
    now_ += ns + static_cast<int64_t>(random_.uniform(0, 6e4));
    return Ok{};
  }
  Result<ClockProbe> probe() override { return ClockProbe{now_, now_, now_}; }
  Status start_logging(const LogRequest& request) override {
    log_from_ = now_;
    poll_ns_ = request.poll_interval_ns;
    return Ok{};
  }
  Result<std::vector<PowerExecution>> execute(uint32_t run,
                                              const std::vector<uint32_t>& kernels) override {
    static constexpr int64_t kTook[] = {8'000, 80'000, 1'000'000};
    now_ += static_cast<int64_t>(random_.uniform(6e3, 1.2e4));
    const double watts =
        (sensor_.load_w - sensor_.idle_w) * (1 + sensor_.call_scatter * random_.normal());
    Call call{now_, now_, watts};
    std::vector<PowerExecution> done;
    for (const uint32_t kernel : kernels) {
      const int64_t took = kTook[kernel % 3];
      done.push_back({run, static_cast<uint32_t>(done.size()), now_, now_ + took, kernel});
      now_ += took;
    }
    call.end = now_;
    calls_.push_back(call);
    return done;
  }
  Result<std::vector<PowerSample>> stop_logging() override {
    const std::vector<double> readings = readings_from(log_from_);
    std::vector<PowerSample> polls;
    for (double t = static_cast<double>(log_from_); t < static_cast<double>(now_);
         t += static_cast<double>(poll_ns_) * random_.uniform(0.8, 1.2)) {
      size_t shown = first_of_log_;
      const double place = (t - phase_ns_) / sensor_.period_ns;
      const auto number = static_cast<int64_t>(std::floor(place));
      const auto at = std::max<int64_t>(0, number - static_cast<int64_t>(first_of_log_));
      shown = std::min(static_cast<size_t>(at), readings.size() - 1);
      polls.push_back({.t_ns = std::llround(t), .power_w = readings[shown]});
    }
    return polls;
  }
  Result<std::optional<double>> energy_j() override { return std::optional<double>(); }

 private:
  struct Call {
    int64_t start = 0;
    int64_t end = 0;
    double watts = 0;  // above idle
  };

  double instant(double t, size_t& from) const {
    while (from < calls_.size() && static_cast<double>(calls_[from].end) <= t) ++from;
    if (from == calls_.size() || t < static_cast<double>(calls_[from].start)) return 0;
    const double since = t - static_cast<double>(calls_[from].start);
    const double boost =
        sensor_.boost > 0 ? sensor_.boost * std::exp(-since / sensor_.boost_ns) : 0;
    return calls_[from].watts * (1 + boost);
  }

  // All updates from the last one before `from` until now.
  std::vector<double> readings_from(int64_t from) {
    const double step = std::max(sensor_.window_ns, sensor_.ramp_ns) / 400;
    const double back = 14 * (sensor_.window_ns + sensor_.ramp_ns) + sensor_.delay_ns;
    const double begin = static_cast<double>(from) - back - sensor_.period_ns;
    const auto steps = static_cast<size_t>((static_cast<double>(now_) - begin) / step) + 2;
    std::vector<double> sum{0};  // of power behind the ramp; of an exponential mean, what it shows
    double behind = 0;
    double mean = 0;
    size_t call = 0;
    const double keep = sensor_.ramp_ns > 0 ? std::exp(-step / sensor_.ramp_ns) : 0;
    const double keep_mean = std::exp(-step / sensor_.window_ns);
    for (size_t i = 0; i < steps; ++i) {
      const double x = instant(begin + (static_cast<double>(i) + 0.5) * step, call);
      const double before = behind;
      behind = x + (behind - x) * keep;
      const double through = sensor_.ramp_ns > 0 ? (before + behind) / 2 : x;  // of the step
      mean = through + (mean - through) * keep_mean;
      sum.push_back(sensor_.boxcar ? sum.back() + through * step : mean);
    }
    const auto at = [&](double t) {
      const double place = std::clamp((t - begin) / step, 0.0, static_cast<double>(steps) - 1.001);
      const auto i = static_cast<size_t>(place);
      return sum[i] + (place - static_cast<double>(i)) * (sum[i + 1] - sum[i]);
    };
    const auto first = static_cast<int64_t>(
        std::floor((static_cast<double>(from) - phase_ns_) / sensor_.period_ns));
    first_of_log_ = static_cast<size_t>(std::max<int64_t>(0, first));
    std::vector<double> readings;
    for (auto k = static_cast<int64_t>(first_of_log_);; ++k) {
      const double t = phase_ns_ + static_cast<double>(k) * sensor_.period_ns +
                       sensor_.jitter_ns * random_.uniform(-1, 1);
      if (t > static_cast<double>(now_)) break;
      const double end = t - sensor_.delay_ns;
      const double above =
          sensor_.boxcar ? (at(end) - at(end - sensor_.window_ns)) / sensor_.window_ns : at(end);
      readings.push_back((sensor_.idle_w + above) * (1 + sensor_.noise * random_.normal()));
    }
    if (readings.empty()) readings.push_back(sensor_.idle_w);
    return readings;
  }

  PulsedSensor sensor_;
  SplitMix64 random_;
  DeviceFacts facts_;
  std::vector<Call> calls_;
  uint32_t kernels_ = 0;
  double phase_ns_ = 0;
  int64_t now_ = 1'000 * kMillisecondNs;
  int64_t log_from_ = 0;
  int64_t poll_ns_ = 0;
  size_t first_of_log_ = 0;
};

}  // namespace assay::testing
