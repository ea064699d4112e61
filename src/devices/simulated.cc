#include "devices/simulated.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "base/random.h"
#include "devices/simulated_parts.h"

namespace assay {
namespace {

using simulated::Kernel;
using simulated::Rails;

constexpr int64_t kLaunch = 8 * kMicrosecondNs;    // from the call to the first execution
constexpr int64_t kCallCost = 2 * kMicrosecondNs;  // of starting and stopping the logger
constexpr std::array<double, 3> kWarmUp = {1.3, 1.12, 1.06};  // slower from idle (FinGraV IV-A S4)
constexpr double kExecutionJitter = 0.001;
constexpr int64_t kForgetsAfter = 20 * kMillisecondNs;  // idle for so long: cold and boosted again

enum Stream : uint64_t { kRunMode = 11, kExecution = 12, kReading = 13, kProbe = 14 };

class Simulated final : public SimulatedDevice {
 public:
  Simulated(uint64_t seed, const SimulatedKnobs& knobs)
      : device_(simulated::draw_device(seed, knobs)),
        knobs_(knobs),
        tape_(device_.idle_w, device_.idle_shares) {
    facts_.name = "Simulated GPU " + std::to_string(seed);
    facts_.driver = "simulated 1";
    facts_.uuid = "SIM-" + std::to_string(seed);
    facts_.tick_hz = device_.tick_hz;
    facts_.virtual_time = true;
    if (device_.sensor_documented) facts_.documented = device_.sensor;
    facts_.peak_flops = device_.peak_flops;
    facts_.peak_bytes_per_s = device_.peak_bytes_per_s;
    facts_.power_limit_w = device_.limit_w;
  }

  const DeviceFacts& facts() const override { return facts_; }

  Result<PreparedKernel> prepare(const std::string& workload) override {
    ASSAY_TRY_ASSIGN(const Workload work, parse_workload(workload));
    if (is_collective(work.kind)) {
      return Error{ErrorCode::kInvalidArgument,
                   "workload '" + work.text +
                       "': a simulated device is one GPU alone, and a collective needs several",
                   "", -1};
    }
    const auto same = std::find_if(kernels_.begin(), kernels_.end(), [&](const Kernel& kernel) {
      return kernel.work.text == work.text;
    });
    const auto id = static_cast<uint32_t>(same - kernels_.begin());
    if (same == kernels_.end()) kernels_.push_back(draw_kernel(device_, work, knobs_));
    return PreparedKernel{id, work.text, work.flop, work.bytes};
  }

  int64_t now_ns() override { return now_; }
  Status wait_ns(int64_t duration) override {
    now_ += std::max<int64_t>(0, duration);
    return Ok{};
  }

  Result<ClockProbe> probe() override {
    SplitMix64 random(stream(kProbe, static_cast<uint64_t>(now_)));
    const auto delay = [&](int64_t least) {
      const double detour = random.chance(device_.read_outliers) ? random.uniform(3e3, 2e4) : 0;
      return least + static_cast<int64_t>(device_.read_jitter_ns * random.uniform() + detour);
    };
    ClockProbe probe;
    probe.c0_ns = now_;
    now_ += delay(device_.read_there_ns);
    probe.gpu_ticks = static_cast<int64_t>(
        std::floor(static_cast<double>(gpu_of(now_)) * (device_.tick_hz * 1e-9)));
    now_ += delay(device_.read_back_ns);
    probe.c1_ns = now_;
    return probe;
  }

  Status start_logging(const LogRequest& request) override {
    if (logging_) return Error{ErrorCode::kInternal, "the logger already runs", "", -1};
    logging_ = true;
    request_ = request;
    now_ += kCallCost;
    log_start_ = now_;
    return Ok{};
  }

  Result<std::vector<PowerSample>> stop_logging() override {
    if (!logging_) return Error{ErrorCode::kInternal, "the logger does not run", "", -1};
    logging_ = false;
    std::vector<PowerSample> samples =
        request_.poll_interval_ns > 0 ? polled_samples() : logged_samples();
    now_ += kCallCost;
    tape_.forget_before(now_ - device_.sensor.window_ns - device_.sensor.delay_ns -
                        2 * device_.sensor.period_ns);
    return samples;
  }

  Result<std::vector<PowerExecution>> execute(uint32_t run,
                                              const std::vector<uint32_t>& kernels) override {
    now_ += kLaunch;
    if (now_ - busy_until_ > kForgetsAfter) {
      busy_since_ = now_;
      warm_ups_ = 0;
    }
    SplitMix64 random(stream(kExecution, run));
    const Mode mode = mode_of(run);
    std::vector<PowerExecution> done;
    done.reserve(kernels.size());
    for (const uint32_t id : kernels) {
      if (id >= kernels_.size()) {
        return Error{ErrorCode::kInvalidArgument, "no kernel of that number is prepared", "", -1};
      }
      const int64_t start = now_;
      run_one(kernels_[id], mode, random);
      done.push_back({run, static_cast<uint32_t>(done.size()), start, now_, id});
    }
    busy_until_ = now_;
    return done;
  }

  Result<std::optional<double>> energy_j() override {
    return std::optional<double>(tape_.energy_until(now_)[0]);
  }

  std::optional<PowerTruth> truth() const override {
    PowerTruth truth;
    truth.seed = device_.seed;
    truth.kind = device_.kind;
    truth.sensor = device_.sensor;
    truth.idle_w = device_.idle_w;
    truth.drift_ppm = device_.drift_ppm;
    truth.noise_share = device_.noise_share;
    truth.gain = device_.gain;
    for (const Kernel& kernel : kernels_) truth.kernels.push_back(kernel_truth(device_, kernel));
    return truth;
  }

  bool common_mode(uint32_t run) const override { return mode_of(run).common; }

 private:
  struct Mode {
    bool common = true;
    double time = 1;
    double power = 1;
  };

  uint64_t stream(uint64_t purpose, uint64_t number) const {
    return mix_seeds(mix_seeds(device_.seed, purpose), number);
  }

  // The location of a run's memory determines the duration of its executions (FinGraV III, C3).
  Mode mode_of(uint32_t run) const {
    SplitMix64 random(stream(kRunMode, run));
    Mode mode;
    mode.common = !random.chance(device_.outlier_share);
    mode.time = 1 + device_.run_jitter * random.uniform(-1, 1);
    if (mode.common) return mode;
    mode.time *= device_.outlier_slowdown[static_cast<size_t>(random.below(3))];
    mode.power = device_.outlier_power;
    return mode;
  }

  // Extra power / settled power: constant until throttling starts, then falling linearly to 0.
  double boost_at(int64_t t_ns) const {
    const int64_t since = t_ns - busy_since_;
    if (device_.boost <= 0 || since >= device_.settled_after_ns) return 0;
    if (since <= device_.boost_until_ns) return device_.boost;
    return device_.boost * static_cast<double>(device_.settled_after_ns - since) /
           static_cast<double>(device_.settled_after_ns - device_.boost_until_ns);
  }

  void run_one(const Kernel& kernel, const Mode& mode, SplitMix64& random) {
    const double warm = warm_ups_ < kWarmUp.size() ? kWarmUp[warm_ups_] : 1;
    ++warm_ups_;
    const double boost = kernel.throttles ? boost_at(now_) : 0;
    const double time =
        mode.time * warm * (1 - 0.3 * boost) * (1 + kExecutionJitter * random.uniform(-1, 1));
    const int64_t end = now_ + std::llround(static_cast<double>(kernel.t_ns) * time);
    const double above_idle = kernel.power_w * mode.power * (1 + boost) - device_.idle_w;
    tape_.add(now_, end, device_.idle_w + above_idle / warm, kernel);
    now_ = end;
  }

  int64_t gpu_of(int64_t cpu) const {
    return cpu + device_.clock_offset_ns +
           std::llround(static_cast<double>(cpu) * device_.drift_ppm * 1e-6);
  }
  int64_t cpu_of(int64_t gpu) const {
    const auto since = static_cast<double>(gpu - device_.clock_offset_ns);
    return gpu - device_.clock_offset_ns -
           std::llround(since * device_.drift_ppm * 1e-6 / (1 + device_.drift_ppm * 1e-6));
  }

  // Time of sensor update `number`, on the GPU's clock.
  int64_t update_at(int64_t number) const {
    return device_.phase_ns + number * device_.sensor.period_ns;
  }
  int64_t last_update(int64_t cpu) const {
    return (gpu_of(cpu) - device_.phase_ns) / device_.sensor.period_ns;
  }

  PowerSample reading(int64_t number) const {
    const int64_t stamp = update_at(number);
    const int64_t end = cpu_of(stamp) - device_.sensor.delay_ns;
    SplitMix64 random(stream(kReading, static_cast<uint64_t>(number)));
    const Rails mean = tape_.mean(end - device_.sensor.window_ns, end);
    const auto noisy = [&](double watts) {
      return watts * device_.gain * (1 + device_.noise_share * random.normal());
    };
    PowerSample sample{.t_ns = stamp, .power_w = noisy(mean[0])};
    sample.xcd_w = noisy(mean[1]);
    sample.iod_w = noisy(mean[2]);
    sample.hbm_w = noisy(mean[3]);
    return sample;
  }

  std::vector<PowerSample> logged_samples() const {
    std::vector<PowerSample> samples;
    for (int64_t k = last_update(log_start_) + 1; k <= last_update(now_); ++k) {
      samples.push_back(reading(k));
    }
    return samples;
  }

  std::vector<PowerSample> polled_samples() const {
    std::vector<PowerSample> samples;
    int64_t shown = INT64_MIN;
    PowerSample sample;
    for (int64_t t = log_start_; t <= now_; t += request_.poll_interval_ns) {
      const int64_t number = last_update(t);
      if (number != shown) sample = reading(number);
      shown = number;
      sample.t_ns = t;
      samples.push_back(sample);
    }
    return samples;
  }

  simulated::Device device_;
  SimulatedKnobs knobs_;
  DeviceFacts facts_;
  simulated::Tape tape_;
  std::deque<Kernel> kernels_;  // the tape points at their shapes
  int64_t now_ = 3'600'000 * kMillisecondNs;
  int64_t busy_since_ = 0;
  int64_t busy_until_ = INT64_MIN / 2;
  size_t warm_ups_ = 0;
  bool logging_ = false;
  LogRequest request_;
  int64_t log_start_ = 0;
};

Error bad_knob(std::string_view knob, const char* what) {
  return Error{ErrorCode::kInvalidArgument,
               "simulated device: '" + std::string(knob) + "': " + what, "", -1};
}

// A number with an optional unit of time; without one, ns.
std::optional<double> number_of(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !std::isfinite(value)) return std::nullopt;
  const std::string_view unit(end);
  if (unit.empty() || unit == "ns") return value;
  if (unit == "us") return value * 1e3;
  if (unit == "ms") return value * 1e6;
  if (unit == "s") return value * 1e9;
  return std::nullopt;
}

Status set_knob(SimulatedKnobs& knobs, std::string_view name, double value) {
  const auto time = [&](std::optional<int64_t>& knob, int64_t least) -> Status {
    if (value < static_cast<double>(least) || value > 1e12) {
      return bad_knob(name, "a time such as 25ms, at most 1000 s");
    }
    knob = std::llround(value);
    return Ok{};
  };
  const auto within = [&](std::optional<double>& knob, double low, double high) -> Status {
    if (value < low || value > high) return bad_knob(name, "out of the range that makes sense");
    knob = value;
    return Ok{};
  };
  if (name == "window") return time(knobs.window_ns, 1);
  if (name == "period") return time(knobs.period_ns, kMicrosecondNs);
  if (name == "delay") return time(knobs.delay_ns, 0);
  if (name == "t") return time(knobs.t_exec_ns, kMicrosecondNs);
  if (name == "drift") return within(knobs.drift_ppm, -1000, 1000);
  if (name == "noise") return within(knobs.noise_share, 0, 1);
  if (name == "idle") return within(knobs.idle_w, 0, 500);
  if (name == "outliers") return within(knobs.outlier_share, 0, 1);
  if (name == "boost") return within(knobs.boost, 0, 1);
  if (name == "gain") return within(knobs.gain, 0.1, 10);
  if (name == "flat") return knobs.flat = value != 0, Ok{};
  if (name == "smooth") return knobs.smooth = value != 0, Ok{};
  return bad_knob(name,
                  "no such setting; there are kind, window, period, delay, t, drift, noise, idle, "
                  "outliers, boost, gain, flat, smooth");
}

}  // namespace

Result<SimulatedKnobs> parse_simulated_knobs(std::string_view text) {
  constexpr std::array<std::string_view, 6> kKinds = {"logger",     "fine",      "nvml",
                                                      "one_second", "bad_clock", "unknown"};
  SimulatedKnobs knobs;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view knob = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = knob.find('=');
    if (equals == std::string_view::npos) return bad_knob(knob, "write name=value");
    const std::string_view name = knob.substr(0, equals);
    const std::string_view value = knob.substr(equals + 1);
    if (name == "kind") {
      if (std::find(kKinds.begin(), kKinds.end(), value) == kKinds.end()) {
        return bad_knob(knob, "one of logger, fine, nvml, one_second, bad_clock, unknown");
      }
      knobs.kind = std::string(value);
      continue;
    }
    const auto number = number_of(value);
    if (!number) return bad_knob(knob, "the value is a number, for times with ns, us, ms or s");
    ASSAY_TRY(set_knob(knobs, name, *number));
  }
  return knobs;
}

std::unique_ptr<SimulatedDevice> make_simulated_device(uint64_t seed, const SimulatedKnobs& knobs) {
  return std::make_unique<Simulated>(seed, knobs);
}

}  // namespace assay
