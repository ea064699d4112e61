#include "devices/simulated_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "base/random.h"

namespace assay::simulated {
namespace {

enum DrawStream : uint64_t { kDraw = 1, kKernelDraw = 2 };

void draw_sensor(Device& device, SplitMix64& random) {
  SensorModel& sensor = device.sensor;
  sensor.mode = SensorMode::kBoxcar;
  sensor.window_ns = kMillisecondNs;
  sensor.period_ns = kMillisecondNs;
  sensor.delay_ns =
      random.chance(0.5) ? 0 : static_cast<int64_t>(random.uniform(0.1, 0.5) * kMillisecondNs);
  if (device.kind == "fine") {
    sensor.window_ns = static_cast<int64_t>(random.uniform(40, 160) * kMicrosecondNs);
    sensor.period_ns =
        static_cast<int64_t>(static_cast<double>(sensor.window_ns) * random.uniform(1.5, 4));
    sensor.delay_ns /= 10;
  } else if (device.kind == "nvml") {
    sensor.window_ns = static_cast<int64_t>(random.uniform(20, 30) * kMillisecondNs);
    sensor.period_ns = 100 * kMillisecondNs;
    sensor.delay_ns = static_cast<int64_t>(random.uniform(8, 30) * kMillisecondNs);
  } else if (device.kind == "one_second") {
    sensor.mode = SensorMode::kOneSecondAverage;
    sensor.window_ns = 1000 * kMillisecondNs;
    sensor.period_ns = 100 * kMillisecondNs;
    sensor.delay_ns = 0;
  }
  sensor.source = "documented";
  device.noise_share = random.uniform(0.001, 0.008);
}

void draw_clock(Device& device, SplitMix64& random) {
  device.drift_ppm = random.uniform(-60, 60);
  device.clock_offset_ns = random.below(int64_t{1} << 50);
  device.tick_hz = random.chance(0.5) ? 1e8 : 1e9;
  device.read_there_ns = static_cast<int64_t>(random.uniform(600, 1500));
  device.read_back_ns = static_cast<int64_t>(random.uniform(400, 1000));
  device.read_jitter_ns = random.uniform(30, 200);
  device.read_outliers = random.uniform(0.02, 0.15);
  if (device.kind == "bad_clock") {
    device.read_there_ns *= 40;
    device.read_back_ns *= 40;
    device.read_jitter_ns = random.uniform(6e6, 12e6);
  }
}

void draw_runs(Device& device, SplitMix64& random) {
  device.run_jitter = random.uniform(0.002, 0.007);
  device.outlier_share = random.uniform(0.05, 0.3);
  for (double& slowdown : device.outlier_slowdown) slowdown = random.uniform(1.09, 1.4);
  device.outlier_power = random.uniform(0.8, 0.93);
  const bool throttles = random.chance(0.3);
  const double boost = random.uniform(0.08, 0.3);
  device.boost = throttles ? boost : 0;
  device.boost_until_ns = static_cast<int64_t>(random.uniform(2, 10) * kMillisecondNs);
  device.settled_after_ns =
      device.boost_until_ns + static_cast<int64_t>(random.uniform(0.3, 1) * 6 * kMillisecondNs);
}

std::string draw_kind(SplitMix64& random) {
  const double u = random.uniform();
  if (u < 0.5) return "logger";
  if (u < 0.8) return "fine";
  if (u < 0.87) return "nvml";
  if (u < 0.92) return "one_second";
  return u < 0.96 ? "bad_clock" : "unknown";
}

template <typename T>
void fix(T& value, const std::optional<T>& knob) {
  if (knob) value = *knob;
}

void apply(Device& device, const SimulatedKnobs& knobs) {
  fix(device.sensor.window_ns, knobs.window_ns);
  fix(device.sensor.period_ns, knobs.period_ns);
  fix(device.sensor.delay_ns, knobs.delay_ns);
  fix(device.drift_ppm, knobs.drift_ppm);
  fix(device.noise_share, knobs.noise_share);
  fix(device.idle_w, knobs.idle_w);
  fix(device.outlier_share, knobs.outlier_share);
  fix(device.boost, knobs.boost);
  fix(device.gain, knobs.gain);
  device.phase_ns = device.phase_ns % std::max<int64_t>(1, device.sensor.period_ns);
}

// Legendre polynomials 1 to 4 with small coefficients: mean 1, never below a third.
std::array<double, kShapePieces> draw_polynomial(SplitMix64& random) {
  std::array<double, 4> c = {};
  for (size_t i = 0; i < c.size(); ++i)
    c[i] = random.uniform(-1, 1) * 0.3 / static_cast<double>(i + 1);
  std::array<double, kShapePieces> relative = {};
  for (size_t piece = 0; piece < kShapePieces; ++piece) {
    const double x = (2 * static_cast<double>(piece) + 1) / kShapePieces - 1;
    relative[piece] = 1 + c[0] * x + c[1] * (3 * x * x - 1) / 2 +
                      c[2] * (5 * x * x * x - 3 * x) / 2 +
                      c[3] * (35 * x * x * x * x - 30 * x * x + 3) / 8;
  }
  return relative;
}

// A start, a main part and a tail, each at its own power.
std::array<double, kShapePieces> draw_phases(SplitMix64& random) {
  const auto first = static_cast<size_t>(kShapePieces * random.uniform(0.05, 0.3));
  const auto last = static_cast<size_t>(kShapePieces * random.uniform(0.7, 0.95));
  const double start = random.uniform(0.5, 0.95);
  const double tail = random.uniform(0.5, 0.95);
  std::array<double, kShapePieces> relative = {};
  for (size_t piece = 0; piece < kShapePieces; ++piece) {
    relative[piece] = piece < first ? start : piece >= last ? tail : 1;
  }
  return relative;
}

// Compute-bound kernels draw more in the compute dies, memory-bound ones in memory (FinGraV V-C).
std::array<double, 3> draw_shares(bool compute, SplitMix64& random) {
  const double xcd = compute ? random.uniform(0.6, 0.75) : random.uniform(0.2, 0.35);
  const double hbm = compute ? random.uniform(0.05, 0.12) : random.uniform(0.3, 0.4);
  return {xcd, random.uniform(0.12, 0.2), hbm};
}

Rails scaled(double total, const std::array<double, 3>& shares) {
  return {total, total * shares[0], total * shares[1], total * shares[2]};
}

}  // namespace

Shape::Shape() {
  for (size_t i = 0; i <= kShapePieces; ++i) sums_[i] = static_cast<double>(i) / kShapePieces;
}

Shape::Shape(const std::array<double, kShapePieces>& relative) {
  const double sum = std::accumulate(relative.begin(), relative.end(), 0.0);
  sums_[0] = 0;
  for (size_t i = 0; i < kShapePieces; ++i) sums_[i + 1] = sums_[i] + relative[i] / sum;
}

double Shape::cumulative(double u) const {
  const double place = std::clamp(u, 0.0, 1.0) * kShapePieces;
  const size_t piece = std::min(static_cast<size_t>(place), kShapePieces - 1);
  return sums_[piece] + (sums_[piece + 1] - sums_[piece]) * (place - static_cast<double>(piece));
}

Device draw_device(uint64_t seed, const SimulatedKnobs& knobs) {
  SplitMix64 random(mix_seeds(seed, kDraw));
  Device device;
  device.seed = seed;
  const std::string drawn = draw_kind(random);
  device.kind = knobs.kind.value_or(drawn);
  draw_sensor(device, random);
  draw_clock(device, random);
  draw_runs(device, random);
  device.sensor_documented = device.kind != "unknown";
  device.phase_ns = random.below(int64_t{1} << 40);
  device.idle_w = random.uniform(70, 170);
  device.limit_w = random.uniform(600, 1000);
  device.idle_shares = {random.uniform(0.2, 0.35), random.uniform(0.25, 0.4),
                        random.uniform(0.1, 0.2)};
  device.peak_flops = random.uniform(200, 1400) * 1e12;
  device.peak_bytes_per_s = random.uniform(1.5, 6) * 1e12;
  apply(device, knobs);
  return device;
}

Kernel draw_kernel(const Device& device, const Workload& work, const SimulatedKnobs& knobs) {
  uint64_t hash = 1469598103934665603ULL;  // FNV-1a over the text
  for (const char c : work.text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  SplitMix64 random(mix_seeds(mix_seeds(device.seed, kKernelDraw), hash));
  Kernel kernel;
  kernel.work = work;
  const double flop_s = std::isnan(work.flop) ? 0 : work.flop / device.peak_flops;
  const double byte_s = std::isnan(work.bytes) ? 0 : work.bytes / device.peak_bytes_per_s;
  const bool compute = flop_s > byte_s;
  const double ideal_s = std::max({flop_s, byte_s, 5e-6});
  kernel.t_ns =
      static_cast<int64_t>(ideal_s * 1e9 / random.uniform(0.45, 0.85)) + 3 * kMicrosecondNs;
  kernel.t_ns = knobs.t_exec_ns.value_or(kernel.t_ns);
  const double share = compute ? random.uniform(0.6, 1.0) : random.uniform(0.35, 0.65);
  kernel.power_w = device.idle_w + share * (device.limit_w - device.idle_w);
  kernel.throttles = compute && device.boost > 0;
  const bool smooth = random.chance(0.6);
  kernel.smooth = knobs.smooth.value_or(smooth);
  if (!knobs.flat.value_or(false)) {
    kernel.shape = Shape(kernel.smooth ? draw_polynomial(random) : draw_phases(random));
  }
  kernel.shares = draw_shares(compute, random);
  return kernel;
}

KernelTruth kernel_truth(const Device& device, const Kernel& kernel) {
  constexpr size_t kPoints = 101;
  KernelTruth truth;
  truth.name = kernel.work.text;
  truth.t_exec_ns = kernel.t_ns;
  const double t = static_cast<double>(kernel.t_ns);
  // Single executions scatter by 0.1 % around their run's time.
  truth.common_low_ns = std::llround(t * (1 - device.run_jitter - 0.001));
  truth.common_high_ns = std::llround(t * (1 + device.run_jitter + 0.001));
  truth.ssp_w = kernel.power_w;
  truth.energy_j = kernel.power_w * t * 1e-9;
  truth.smooth = kernel.smooth;
  truth.settled_after_ns = kernel.throttles ? device.settled_after_ns : 0;
  for (size_t i = 0; i < 3; ++i) {
    truth.component_w[i] =
        device.idle_w * device.idle_shares[i] + (kernel.power_w - device.idle_w) * kernel.shares[i];
  }
  const double w = static_cast<double>(device.sensor.window_ns) / t;  // in executions
  const auto integral = [&](double u) {                               // over periodic executions
    return std::floor(u) + kernel.shape.cumulative(u - std::floor(u));
  };
  for (size_t i = 0; i < kPoints; ++i) {
    const double u = static_cast<double>(i) / (kPoints - 1);
    truth.curve.emplace_back(std::llround(u * t),
                             kernel.power_w * (integral(u) - integral(u - w)) / w);
  }
  return truth;
}

Tape::Tape(double idle_w, const std::array<double, 3>& idle_shares)
    : idle_(scaled(idle_w, idle_shares)) {}

void Tape::add(int64_t start_ns, int64_t end_ns, double power_w, const Kernel& kernel) {
  spans_.push_back({start_ns, end_ns, power_w, kernel.shares, &kernel.shape, total_});
  const Rails whole = above_idle(spans_.back(), end_ns);
  for (size_t rail = 0; rail < kRails; ++rail) total_[rail] += whole[rail];
}

Rails Tape::above_idle(const Span& span, int64_t t_ns) const {
  const double length = static_cast<double>(span.end_ns - span.start_ns);
  const double u = std::clamp(static_cast<double>(t_ns - span.start_ns) / length, 0.0, 1.0);
  const double joules = length * 1e-9 * (span.power_w * span.shape->cumulative(u) - idle_[0] * u);
  return scaled(joules, span.shares);
}

Rails Tape::energy_until(int64_t t_ns) const {
  Rails energy = forgotten_;
  const auto after =
      std::upper_bound(spans_.begin(), spans_.end(), t_ns,
                       [](int64_t t, const Span& span) { return t < span.start_ns; });
  if (after != spans_.begin()) {
    const Span& span = *std::prev(after);
    energy = span.energy_before;
    const Rails part = above_idle(span, t_ns);
    for (size_t rail = 0; rail < kRails; ++rail) energy[rail] += part[rail];
  }
  for (size_t rail = 0; rail < kRails; ++rail) {
    energy[rail] += idle_[rail] * static_cast<double>(t_ns) * 1e-9;
  }
  return energy;
}

Rails Tape::mean(int64_t from_ns, int64_t to_ns) const {
  const Rails before = energy_until(from_ns);
  Rails mean = energy_until(to_ns);
  const double seconds = static_cast<double>(to_ns - from_ns) * 1e-9;
  for (size_t rail = 0; rail < kRails; ++rail) mean[rail] = (mean[rail] - before[rail]) / seconds;
  return mean;
}

void Tape::forget_before(int64_t t_ns) {
  while (!spans_.empty() && spans_.front().end_ns < t_ns) {
    forgotten_ = spans_.size() > 1 ? spans_[1].energy_before : total_;
    spans_.pop_front();
  }
}

}  // namespace assay::simulated
