#pragma once

// Parts of a simulated device: the draw, the power inside a kernel, and the tape of instantaneous
// power that samples integrate.

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "devices/simulated.h"
#include "devices/workload.h"

namespace assay::simulated {

constexpr size_t kShapePieces = 64;
constexpr size_t kRails = 4;  // total, xcd, iod, hbm
using Rails = std::array<double, kRails>;

// Power over the time in a kernel, relative to its mean: constant in each of kShapePieces equal
// parts. Mean 1.
class Shape {
 public:
  Shape();  // flat
  explicit Shape(const std::array<double, kShapePieces>& relative);
  // Integral from 0 to u of the relative power, u in [0, 1]; 1 at 1.
  double cumulative(double u) const;

 private:
  std::array<double, kShapePieces + 1> sums_;
};

struct Kernel {
  Workload work;
  int64_t t_ns = 0;        // common mode, settled
  double power_w = 0;      // settled mean
  bool throttles = false;  // heavy enough that the device lowers its clocks
  bool smooth = false;     // the shape is a polynomial
  Shape shape;
  std::array<double, 3> shares = {};  // of xcd, iod, hbm in the power above idle
};

// Everything the seed decides about a device.
struct Device {
  uint64_t seed = 0;
  std::string kind;
  SensorModel sensor;
  bool sensor_documented = true;
  double gain = 1;
  double noise_share = 0;
  int64_t phase_ns = 0;  // of the sensor's updates
  double idle_w = 0;
  double limit_w = 0;
  std::array<double, 3> idle_shares = {};
  double drift_ppm = 0;
  int64_t clock_offset_ns = 0;
  double tick_hz = 1e9;
  int64_t read_there_ns = 0;  // time a clock read takes to reach the counter, and back
  int64_t read_back_ns = 0;
  double read_jitter_ns = 0;
  double read_outliers = 0;  // share of reads with a long detour
  double run_jitter = 0;     // half width of the common mode, relative
  double outlier_share = 0;
  std::array<double, 3> outlier_slowdown = {};
  double outlier_power = 1;
  double boost = 0;  // extra power before throttling / settled power
  int64_t boost_until_ns = 0;
  int64_t settled_after_ns = 0;
  double peak_flops = 0;
  double peak_bytes_per_s = 0;
};
Device draw_device(uint64_t seed, const SimulatedKnobs& knobs);
Kernel draw_kernel(const Device& device, const Workload& work, const SimulatedKnobs& knobs);
KernelTruth kernel_truth(const Device& device, const Kernel& kernel);

// Instantaneous power as executions over idle time, with exact integrals.
class Tape {
 public:
  Tape(double idle_w, const std::array<double, 3>& idle_shares);
  // Executions in order, without overlap.
  void add(int64_t start_ns, int64_t end_ns, double power_w, const Kernel& kernel);
  // Energy per rail in J from the origin to t, which must not precede the last forget_before().
  Rails energy_until(int64_t t_ns) const;
  Rails mean(int64_t from_ns, int64_t to_ns) const;
  void forget_before(int64_t t_ns);

 private:
  struct Span {
    int64_t start_ns;
    int64_t end_ns;
    double power_w;
    std::array<double, 3> shares;
    const Shape* shape;
    Rails energy_before;  // above idle
  };
  Rails above_idle(const Span& span, int64_t t_ns) const;

  Rails idle_;
  std::deque<Span> spans_;
  Rails total_ = {};  // above idle, of every span so far
  Rails forgotten_ = {};
};

}  // namespace assay::simulated
