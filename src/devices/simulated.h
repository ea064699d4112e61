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

// Fixed values for properties that the seed draws otherwise. nullopt = drawn.
struct SimulatedKnobs {
  std::optional<std::string>
      kind;  // One of: "logger", "fine", "nvml", "one_second", "bad_clock", "unknown"
  std::optional<int64_t> window_ns;
  std::optional<int64_t> period_ns;
  std::optional<int64_t> delay_ns;
  std::optional<double> drift_ppm;
  std::optional<double> noise_share;
  std::optional<double> idle_w;
  std::optional<double> outlier_share;  // share of runs outside the common mode
  std::optional<double> boost;          // extra power before throttling / settled power; 0 = none
  std::optional<double> gain;
  std::optional<int64_t> t_exec_ns;  // of every kernel
  std::optional<bool> flat;          // power inside the kernel does not vary
  std::optional<bool> smooth;        // true: power varies smoothly; false: in phases
};

// Parses e.g.
// "window=1ms,period=1ms,drift=42,noise=0.005,idle=100,outliers=0.2,boost=0,kind=logger,t=100us".
Result<SimulatedKnobs> parse_simulated_knobs(std::string_view text);

class SimulatedDevice : public PowerDevice {
 public:
  // True if the run is in the common mode.
  virtual bool common_mode(uint32_t run) const = 0;
};
std::unique_ptr<SimulatedDevice> make_simulated_device(uint64_t seed, const SimulatedKnobs& knobs);

}  // namespace assay
