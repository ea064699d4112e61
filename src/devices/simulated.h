#pragma once

// A simulated GPU in virtual time. The seed draws its sensor, its clock, its kernels and their
// faults, and PowerTruth exposes all of them. The tests of the power module use it. Its output
// depends only on the seed, the run numbers and the (virtual) time of each call. An interrupted and
// resumed measurement run therefore records the same times as an uninterrupted one, and the same
// powers except for rounding of sums.

#include <memory>
#include <optional>
#include <string_view>

#include "devices/device.h"

namespace assay {

// Random properties, each of which can be fixed instead. All optional; nullopt = drawn from the
// seed.
struct SimulatedKnobs {
  std::optional<std::string>
      kind;  // One of: "logger", "fine", "nvml", "one_second", "bad_clock", "unknown"
  std::optional<int64_t> window_ns;
  std::optional<int64_t> period_ns;
  std::optional<int64_t> delay_ns;
  std::optional<double> drift_ppm;
  std::optional<double> noise_share;
  std::optional<double> idle_w;
  std::optional<double> outlier_share;  // runs that are not in the common mode
  std::optional<double> boost;          // power above the settled one before throttling; 0 = none
  std::optional<double> gain;
  std::optional<int64_t> t_exec_ns;  // of every kernel
  std::optional<bool> flat;          // power inside the kernel does not vary
  std::optional<bool> smooth;        // else it varies in phases
};

// "window=1ms,period=1ms,drift=42,noise=0.005,idle=100,outliers=0.2,boost=0,kind=logger,t=100us".
Result<SimulatedKnobs> parse_simulated_knobs(std::string_view text);

class SimulatedDevice : public PowerDevice {
 public:
  // The mode of a run: whether the truth counts it as common.
  virtual bool common_mode(uint32_t run) const = 0;
};
std::unique_ptr<SimulatedDevice> make_simulated_device(uint64_t seed, const SimulatedKnobs& knobs);

}  // namespace assay
